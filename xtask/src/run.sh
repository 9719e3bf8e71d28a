#!/usr/bin/env bash
# Run the packed test and bench binaries. Needs bash, xz (or python3) and a GPU driver; no Rust, no network.
#   ./run.sh check                what matters most, within nine minutes: a table, and results.json in the current folder
#   ./run.sh check --back-ends vulkan,wgpu    the same on these; the first one that starts gets all stages
#   ./run.sh check --stages right,fast    these stages only
#   ./run.sh                      list what is here
#   ./run.sh FLAVOUR [tests]      every test of wgpu, vulkan or cuda; exit status 1 if one failed
#   ./run.sh FLAVOUR benches      every bench
#   ./run.sh FLAVOUR NAME ARGS..  one binary
# The tests read BURN_SCAN_DEVICE (set here to the flavour) and fail where that device does not start.
set -euo pipefail
export PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
here=$(cd "$(dirname "$0")" && pwd)
if [ $# = 0 ]; then (cd "$here" && ls -- */*.xz | sed 's/\.xz$//; s,/, ,'); exit; fi

# Containers with a GPU often lack the Vulkan loader, or have the driver's manifest in an unusual place.
if [ -e "$here/lib/libvulkan.so.1" ] && ! { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q libvulkan.so.1; then
  export LD_LIBRARY_PATH="$here/lib:${LD_LIBRARY_PATH:-}"
fi
cloud=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -e "$cloud" ] && ! ls /etc/vulkan/icd.d/*.json /usr/share/vulkan/icd.d/*.json >/dev/null 2>&1; then
  export VK_DRIVER_FILES=${VK_DRIVER_FILES:-$cloud}
fi

# The folder of a flavour: the binaries for CUDA have Vulkan too.
folder_of() {
  if [ -d "$here/$1" ]; then echo "$1"
  elif [ "$1" = vulkan ] && [ -d "$here/cuda" ]; then echo cuda
  else return 1; fi
}

python='import lzma,shutil,sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)'
unpack() { # FOLDER NAME
  mkdir -p "$work/$1"
  { xz -dc "$here/$1/$2.xz" 2>/dev/null || python3 -c "$python" "$here/$1/$2.xz"; } > "$work/$1/$2"
  chmod +x "$work/$1/$2"
}

# Sets what a binary of a flavour needs around it.
prepare() { # FLAVOUR FOLDER
  export BURN_SCAN_REQUIRE_CUBE=1 BURN_SCAN_DEVICE=$1 RUST_LIB_BACKTRACE=0
  # Mesa prints a line for each instance without it.
  export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp}
  if [ "$2" = cuda ]; then
    local lib
    for lib in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib /usr/local/nvidia/lib64; do
      if [ -d "$lib" ]; then export LD_LIBRARY_PATH="$lib:${LD_LIBRARY_PATH:-}"; fi
    done
    export CUDA_PATH=${CUDA_PATH:-/usr/local/cuda} LD_PRELOAD="$here/cuda/libllvm_stub.so"
  fi
}

if [ "$1" = exec ]; then # FLAVOUR NAME ARGS: a binary that `check` has unpacked
  folder=$(folder_of "$2") name=$3
  prepare "$2" "$folder"
  shift 3
  exec "$GPU_CHECK_WORK/$folder/$name" "$@"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$1" = check ]; then
  shift
  flavours=()
  for flavour in cuda vulkan wgpu; do
    if folder_of "$flavour" >/dev/null; then flavours+=("$flavour"); fi
  done
  for file in "$here"/*/*.xz; do
    unpack "$(basename "$(dirname "$file")")" "$(basename "$file" .xz)" &
  done
  wait
  out=$PWD/results.json
  cd "$work"
  # The next processes reuse the kernels that one has compiled.
  printf '[compilation]\ncache = true\n[environment]\npath = "local"\n' > cubecl.toml
  export GPU_CHECK_WORK=$work
  status=0
  IFS=, eval 'names="${flavours[*]}"'
  timeout -k 5 "${GPU_CHECK_SECONDS:-540}" bash "$here/run.sh" exec wgpu burn-scan.bench.gpu_check check "$@" \
    --seconds "$((${GPU_CHECK_SECONDS:-540} - 10))" --bundle "$here" --out "$out" --back-ends "$names" || status=$?
  exit "$status"
fi

flavour=$1 what=${2:-tests}
folder=$(folder_of "$flavour")
shift $(($# > 1 ? 2 : 1))

run_one() {
  local name=$1 status=0
  shift
  unpack "$folder" "$name"
  # Criterion measures only when told so, as `cargo bench` does; otherwise it tries each bench once.
  case $name in *.gpu_check) ;; *.bench.*) set -- --bench "$@" ;; esac
  echo "== $flavour $name"
  (prepare "$flavour" "$folder" && "$work/$folder/$name" "$@") || status=$?
  rm -f "$work/$folder/$name"
  return "$status"
}

case $what in
  tests | benches)
    failed=()
    kind=test
    if [ "$what" = benches ]; then kind=bench; fi
    for file in "$here/$folder"/*."$kind".*.xz; do
      [ -e "$file" ] || continue
      name=$(basename "$file" .xz)
      run_one "$name" "$@" || failed+=("$name")
    done
    if [ ${#failed[@]} -gt 0 ]; then echo "FAILED: ${failed[*]}"; exit 1; fi
    echo "all $what of $flavour passed"
    ;;
  *) run_one "$what" "$@" ;;
esac
