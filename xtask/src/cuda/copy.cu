// A copy in vectors of four floats, which every count of cycles stands beside.
extern "C" __global__ void copy(const float4* in, float4* out) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  out[at] = in[at];
}
