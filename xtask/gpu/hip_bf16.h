// Debian's HIP is too old to have this header. CubeCL's source needs only a type of it that converts from and to float.
#pragma once
typedef __bf16 __hip_bfloat16;
