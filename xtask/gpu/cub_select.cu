// CUB's compaction of f32 by flags as `DeviceSelect::Flagged` launches it on sm_90: its agent with its policy for
// values of four bytes.
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
namespace std {
using namespace ::cuda::std;  // CUB uses a few names that NVRTC does not have
}
#include <cub/agent/agent_select_if.cuh>

// There is one partition, and nothing was selected before it.
struct Whole {
  using total_num_items_t = int;
  __device__ int input_offset() const { return 0; }
  __device__ bool is_first_partition() const { return true; }
  __device__ int num_previously_selected() const { return 0; }
  __device__ int num_previously_rejected() const { return 0; }
  __device__ int num_total_items(int n) const { return n; }
  template <class Out> __device__ void update_num_selected(Out out, int selected) const { *out = selected; }
};

using Policy = cub::AgentSelectIfPolicy<384, 14, cub::BLOCK_LOAD_DIRECT, cub::LOAD_DEFAULT, cub::BLOCK_SCAN_WARP_SCANS>;
using Agent = cub::detail::select::AgentSelectIf<Policy, const float*, const char*, float*, cub::NullType,
                                                 cub::NullType, int, Whole, false, false>;

extern "C" __global__ void __launch_bounds__(384)
    cub_select(const float* in, const char* flags, float* out, int* selected, cub::ScanTileState<int> state, int n,
               int tiles) {
  __shared__ typename Agent::TempStorage storage;
  Whole whole;
  Agent(storage, in, flags, out, cub::NullType{}, cub::NullType{}, n, whole).ConsumeRange(tiles, state, selected);
}
