// CUB's DeviceScan, DeviceSelect::Flagged, DeviceRadixSort and DeviceRunLengthEncode and a device copy, the peers of
// burn-scan on an NVIDIA GPU.
//
//   nvcc -O3 -std=c++17 -arch=native -o cub benches/peers/cub.cu && ./cub [LARGEST_POWER]
//
// n = 2^16, 2^20, 2^24, 2^28, passed as `int`, CUB's fastest offset type. One line of CSV per case:
// op,dtype,n,median_us,min_us,gb_per_s,share_of_copy
// Medians of 20 rounds by CUDA events, after 3 rounds that warm up. A round is 8 calls behind copies that keep the device
// busy until the host has queued them. Temporary storage is allocated before. The data are integers from -2 to 2, so sums
// are exact in f32, and in f16 if they are accumulated in f32.
// By default CUB accumulates f16 in f16: `f16` is that (answer not checked). `f16-f32acc` has the accuracy of burn-scan, by
// an iterator that widens to f32 and one that rounds the stored results.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

constexpr int WARM = 3, ROUNDS = 20, CALLS = 8, FILLER_COPIES = 4;
constexpr size_t FILLER_BYTES = size_t(1) << 26;

void ok(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// The integers of the Rust benches: `hash(i) % 5 - 2`, and `hash(i) % 10000 < 5000` for the flags.
uint64_t hashed(uint64_t i) {
  uint64_t bits = i + 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return (bits ^ (bits >> 31)) & 0xffffffffull;
}

template <typename T> struct Buffer {
  T* at = nullptr;
  explicit Buffer(size_t n) { ok(cudaMalloc(&at, std::max<size_t>(n, 1) * sizeof(T)), "cudaMalloc"); }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    ok(cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(at); }
  std::vector<T> host(size_t n) const {
    std::vector<T> out(n);
    ok(cudaMemcpy(out.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return out;
  }
};

struct Time { float median, min; };

template <typename F> Time timed(F work) {
  cudaEvent_t start, stop;
  ok(cudaEventCreate(&start), "event");
  ok(cudaEventCreate(&stop), "event");
  static Buffer<uint8_t> filler(FILLER_BYTES), filled(FILLER_BYTES);
  std::vector<float> times;
  for (int round = 0; round < WARM + ROUNDS; round++) {
    float ms = 0;
    for (int i = 0; i < FILLER_COPIES; i++) {
      ok(cudaMemcpyAsync(filled.at, filler.at, FILLER_BYTES, cudaMemcpyDeviceToDevice), "filler");
    }
    ok(cudaEventRecord(start), "record");
    for (int i = 0; i < CALLS; i++) ok(work(), "the measured call");
    ok(cudaEventRecord(stop), "record");
    ok(cudaEventSynchronize(stop), "wait");
    ok(cudaEventElapsedTime(&ms, start, stop), "elapsed");
    if (round >= WARM) times.push_back(ms / CALLS);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(times.begin(), times.end());
  return {(times[ROUNDS / 2 - 1] + times[ROUNDS / 2]) / 2, times[0]};
}

// `work` takes temporary storage as CUB does: the first call, without storage, asks for its size.
template <typename F> Time with_storage(F work) {
  size_t bytes = 0;
  ok(work(nullptr, bytes), "size of the temporary storage");
  Buffer<uint8_t> storage(bytes);
  return timed([&] { return work(storage.at, bytes); });
}

void line(const char* op, const char* dtype, size_t n, Time t, double bytes, double copy_gbs) {
  double gbs = bytes / t.median / 1e6;
  std::printf("%s,%s,%zu,%.2f,%.2f,%.1f,%.3f\n", op, dtype, n, t.median * 1e3, t.min * 1e3, gbs, gbs / copy_gbs);
  std::fflush(stdout);
}

template <typename T> void check(const char* op, const std::vector<T>& found, const std::vector<T>& expected) {
  for (size_t i = 0; i < expected.size(); i++) {
    if (float(found[i]) == float(expected[i])) continue;
    std::fprintf(stderr, "%s: element %zu is %f, not %f\n", op, i, float(found[i]), float(expected[i]));
    std::exit(1);
  }
}

struct Widen { __host__ __device__ float operator()(__half value) const { return __half2float(value); } };
struct Round { __host__ __device__ __half operator()(float value) const { return __float2half_rn(value); } };

template <typename T> double copy(const char* dtype, const Buffer<T>& from, Buffer<T>& to, size_t n) {
  Time t = timed([&] { return cudaMemcpyAsync(to.at, from.at, n * sizeof(T), cudaMemcpyDeviceToDevice); });
  double bytes = 2.0 * n * sizeof(T), gbs = bytes / t.median / 1e6;
  line("copy", dtype, n, t, bytes, gbs);
  return gbs;
}

template <typename T, typename Make>
void fill(size_t n, Make make, std::vector<T>& values, std::vector<T>& inclusive, std::vector<T>& exclusive) {
  int64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    int step = int(hashed(i) % 5) - 2;
    values[i] = make(step);
    exclusive[i] = make(sum);
    sum += step;
    inclusive[i] = make(sum);
  }
}

// The sums of one type. `deterministic` asks for the same bits in every run, where this version of CUB has the choice.
template <typename T>
void sums(const char* dtype, size_t n, const Buffer<T>& in, Buffer<T>& out, const std::vector<T>& inclusive,
          const std::vector<T>& exclusive, double gbs, bool deterministic) {
  double bytes = 2.0 * n * sizeof(T);
  Time t = with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in.at, out.at, int(n)); });
  check("InclusiveSum", out.host(n), inclusive);
  line("inclusive_sum", dtype, n, t, bytes, gbs);

  t = with_storage([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, in.at, out.at, int(n)); });
  check("ExclusiveSum", out.host(n), exclusive);
  line("exclusive_sum", dtype, n, t, bytes, gbs);

#if CUB_VERSION >= 300500
  if (deterministic) {
    auto env = cuda::execution::require(cuda::execution::determinism::run_to_run);
    t = timed([&] { return cub::DeviceScan::InclusiveSum(in.at, out.at, int(n), env); });
    check("InclusiveSum, run to run", out.host(n), inclusive);
    line("inclusive_sum_deterministic", dtype, n, t, bytes, gbs);
  }
#endif
}

void select(const char* op, uint64_t in_10000, size_t n, const std::vector<float>& values, const Buffer<float>& in,
            Buffer<float>& out, double gbs) {
  std::vector<uint8_t> flags(n);
  std::vector<float> kept;
  for (size_t i = 0; i < n; i++) {
    flags[i] = hashed(i) % 10000 < in_10000;
    if (flags[i]) kept.push_back(values[i]);
  }
  Buffer<uint8_t> mask(flags);
  Buffer<int> count(1);
  Time t = with_storage([&](void* s, size_t& b) {
    return cub::DeviceSelect::Flagged(s, b, in.at, mask.at, out.at, count.at, int(n));
  });
  if (count.host(1)[0] != int(kept.size())) ok(cudaErrorUnknown, "Flagged: the count is wrong");
  check("Flagged", out.host(kept.size()), kept);
  line(op, "f32", n, t, 5.0 * n + 4.0 * kept.size(), gbs);
}

void f32(size_t n) {
  std::vector<float> values(n), inclusive(n), exclusive(n);
  fill(n, [](int64_t v) { return float(v); }, values, inclusive, exclusive);
  Buffer<float> in(values), out(n);
  double gbs = copy("f32", in, out, n);
  sums("f32", n, in, out, inclusive, exclusive, gbs, true);
  select("select_flagged", 5000, n, values, in, out, gbs);
  select("select_flagged_1", 100, n, values, in, out, gbs);
}

void i64(size_t n) {
  std::vector<int64_t> values(n), inclusive(n), exclusive(n);
  fill(n, [](int64_t v) { return v; }, values, inclusive, exclusive);
  Buffer<int64_t> in(values), out(n);
  double gbs = copy("i64", in, out, n);
  sums("i64", n, in, out, inclusive, exclusive, gbs, false);
}

// A stable sort of pairs by keys of 8 bits, which is what a grouping by 256 keys is, and by keys of 32 bits, and a sort of
// the latter alone.
void sorts(size_t n) {
  for (int bits : {8, 32}) {
    std::vector<uint32_t> keys(n), positions(n);
    for (size_t i = 0; i < n; i++) {
      keys[i] = uint32_t(hashed(i)) >> (32 - bits);
      positions[i] = uint32_t(i);
    }
    Buffer<uint32_t> keys_in(keys), keys_out(n), in(positions), out(n);
    double gbs = copy("u32", in, out, n);
    Time t = with_storage([&](void* s, size_t& b) {
      return cub::DeviceRadixSort::SortPairs(s, b, keys_in.at, keys_out.at, in.at, out.at, int(n), 0, bits);
    });
    std::stable_sort(positions.begin(), positions.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    if (out.host(n) != positions) ok(cudaErrorUnknown, "SortPairs: wrong");
    line(bits == 8 ? "sort_pairs_8_bits" : "sort_pairs_32_bits", "u32", n, t, 16.0 * n, gbs);
    if (bits == 8) continue;
    t = with_storage([&](void* s, size_t& b) {
      return cub::DeviceRadixSort::SortKeys(s, b, keys_in.at, keys_out.at, int(n), 0, bits);
    });
    std::sort(keys.begin(), keys.end());
    if (keys_out.host(n) != keys) ok(cudaErrorUnknown, "SortKeys: wrong");
    line("sort_keys_32_bits", "u32", n, t, 8.0 * n, gbs);
  }
}

void runs(size_t n) {
  std::vector<int> values(n), firsts, lengths;
  for (size_t i = 0; i < n; i++) {
    values[i] = int(hashed(i / 5) % 3);
    if (i == 0 || values[i] != values[i - 1]) {
      firsts.push_back(values[i]);
      lengths.push_back(0);
    }
    lengths.back()++;
  }
  Buffer<int> in(values), out(n), counts(n), number(1);
  double gbs = copy("i32", in, out, n);
  Time t = with_storage([&](void* s, size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(s, b, in.at, out.at, counts.at, number.at, int(n));
  });
  bool is_right = number.host(1)[0] == int(firsts.size()) && out.host(firsts.size()) == firsts;
  if (!is_right || counts.host(firsts.size()) != lengths) ok(cudaErrorUnknown, "Encode: wrong");
  line("run_length_encode", "i32", n, t, 4.0 * n + 8.0 * firsts.size(), gbs);
}

void f16(size_t n) {
  std::vector<__half> values(n), inclusive(n), exclusive(n);
  fill(n, [](int64_t v) { return __float2half_rn(float(v)); }, values, inclusive, exclusive);
  Buffer<__half> in(values), out(n);
  double gbs = copy("f16", in, out, n), bytes = 4.0 * n;

  Time t = with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in.at, out.at, int(n)); });
  line("inclusive_sum", "f16", n, t, bytes, gbs);

  t = with_storage([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, in.at, out.at, int(n)); });
  line("exclusive_sum", "f16", n, t, bytes, gbs);

  auto wide = thrust::make_transform_iterator(in.at, Widen());
  auto narrow = thrust::make_transform_output_iterator(out.at, Round());
  t = with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, wide, narrow, int(n)); });
  check("InclusiveSum, f16 accumulated in f32", out.host(n), inclusive);
  line("inclusive_sum", "f16-f32acc", n, t, bytes, gbs);
}

int main(int argc, char** argv) {
  int largest = argc > 1 ? std::atoi(argv[1]) : 28;
  cudaDeviceProp gpu;
  ok(cudaGetDeviceProperties(&gpu, 0), "no CUDA device");
  std::printf("# %s, CUDA %d, CUB %d\n", gpu.name, CUDART_VERSION, CUB_VERSION);
  std::printf("op,dtype,n,median_us,min_us,gb_per_s,share_of_copy\n");
  for (int power : {16, 20, 24, 28}) {
    if (power > largest) continue;
    f32(size_t(1) << power);
    f16(size_t(1) << power);
    if (power >= 24) i64(size_t(1) << power);
    if (power != 28) sorts(size_t(1) << power);
    if (power == 24) runs(size_t(1) << power);
  }
}
