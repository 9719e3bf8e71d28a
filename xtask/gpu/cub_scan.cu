// CUB's inclusive sum of f32 as `DeviceScan` launches it on sm_90: its agent with its policy for values of four bytes.
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
namespace std {
using namespace ::cuda::std;  // CUB uses a few names that NVRTC does not have
}
#include <cub/agent/agent_scan.cuh>

using Policy = cub::AgentScanPolicy<128, 24, float, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::LOAD_DEFAULT,
                                    cub::BLOCK_STORE_WARP_TRANSPOSE, cub::BLOCK_SCAN_WARP_SCANS>;
using Agent = cub::AgentScan<Policy, const float*, float*, ::cuda::std::plus<>, cub::NullType, int, float>;
using State = cub::ScanTileState<float>;

extern "C" __global__ void __launch_bounds__(128) cub_scan(const float* in, float* out, State state, int n) {
  __shared__ typename Agent::TempStorage storage;
  Agent(storage, in, out, ::cuda::std::plus<>{}, cub::NullType{}).ConsumeRange(n, state, 0);
}
