// In place of a header that Debian's HIP is too old for: all that CubeCL's source asks of it is a type that converts from and to float.
#pragma once
typedef __bf16 __hip_bfloat16;
