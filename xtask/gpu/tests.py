"""`python3 xtask/gpu/tests.py`; `cargo test -p xtask` runs it, too."""

import unittest

import amd
import nvidia
import reconvergence
import simulate
from machine_code import Code, faults

USAGE = "Fatbin elf code:\n Function scan:\n  REG:40 STACK:0 SHARED:128 LOCAL:0 CONSTANT[0]:400\n"
LISTING = """
.text.scan:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E.U16 R4, desc[UR4][R2.64] ;
        /*0030*/              @P1  LDG.E.64.STRONG.GPU R6, desc[UR4][R2.64] ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   STL [R1], R0 ;
        /*0060*/                   STG.E desc[UR4][R8.64], R0 ;
        /*0070*/                   EXIT ;
"""
ASSEMBLY = """
scan:
\tglobal_load_dwordx4 v[2:5], v1, s[0:1]
\tglobal_load_ushort v6, v1, s[0:1]
\tglobal_load_dword v7, v1, s[0:1] sc1
\tbuffer_load_b64 v[6:7], off, s[0:3], 0
\ts_barrier
\tscratch_store_dword off, v7, s32
\tglobal_store_b128 v1, v[2:5], s[2:3]
\ts_endpgm
; NumVgprs: 80
; ScratchSize: 4
; Occupancy: 6
"""
# The position of a unit, the size of a plane, its number, whether it is the first, a variable and an output.
CUDA = """
extern "C" __global__ void scan_kernel(uint32_t * const __restrict__ v0) {
uint32_t const v1 = threadIdx.x;
uint32_t const v2 = 32;
uint32_t const v3 = v1 / v2;
uint32_t const v4 = blockIdx.x;
bool const v5 = v3 == v2;
bool const v6 = v1 == v2;
uint32_t v7_store;
uint32_t * v8 = &v7_store;*v8 = v2;
uint32_t * const v9 = &v0[v1];
BODY
return;
}
"""


class Tests(unittest.TestCase):
    def test_machine_code_is_counted(self):
        code = nvidia.read(USAGE, LISTING)
        self.assertEqual((code.registers, code.shared, code.stack, code.barriers, code.spills), (40, 128, 0, 1, 1))
        self.assertEqual((code.loads, code.stores), ({128: 1, 16: 1}, {32: 1}))
        code = amd.read(ASSEMBLY)
        self.assertEqual((code.registers, code.stack, code.planes, code.barriers, code.spills), (80, 4, 6, 1, 1))
        self.assertEqual((code.loads, code.stores), ({128: 1, 64: 1, 16: 1}, {128: 1}))
        self.assertRaises(ValueError, amd.read, "; NumVgprs: 80")

    def test_a_plane_operation_that_units_may_miss_is_found(self):
        store = "if(v6) {\n*v9 = v1;\n}\n"
        shuffle, sync = "uint32_t const v20 = __shfl_up_sync(__activemask(), v1, v2);\n", "__syncwarp();\n"
        vote = "uint32_t_4 const v21 = {__ballot_sync(__activemask(), v6), 0, 0, 0};\nbool const v22 = v21 == v2;\n"
        ahead = "while([&]{\nbool const v30 = v4 < v2;\nreturn v30;\n}()) {\n"
        for text, count in [
            (shuffle, 0),
            (store + shuffle, 1),  # after a branch
            (store + sync + shuffle, 0),
            ("if(v6) {\n" + shuffle + "}\n", 1),  # in a branch
            ("if(v5) {\n" + shuffle + "}\n", 0),  # that a whole plane takes
            (vote + "if(v22) {\n" + shuffle + "}\n", 0),  # as the ballot of all says
            ("if(v5) {\n" + sync + "}\n else {\n" + store + "}\n" + shuffle, 1),
            (store + "if(v5) {\n" + sync + "}\n" + shuffle, 1),
            (ahead + shuffle + store + "}\n", 1),  # in the next round
            (ahead + shuffle + store + sync + "}\n", 0),
            (ahead.replace("v4", "v1") + "}\n" + shuffle, 1),  # after a loop that some leave early
            (store + ahead + sync + "}\n" + shuffle, 1),  # after a loop of no rounds
            ("uint32_t const v10 = atomicAdd(v9, v2);\nbool const v11 = v10 == v2;\nif(v11) {\n" + shuffle + "}\n", 1),
            ("if(v6) {\n*v8 = v2;\n}\n" + shuffle, 0),  # a move
            ("if(v6) {\n*v8 = v2;\n}\nuint32_t const v10 = *v8;\nif(v10) {\n" + shuffle + "}\n", 1),
        ]:
            self.assertEqual(len(reconvergence.faults(CUDA.replace("BODY", text))), count, text)

    def test_what_is_resident_is_bound_by_the_scarcest(self):
        for registers, declared, units, asked, threads in [
            (32, 0, 512, 0, 2048),  # threads
            (56, 0, 512, 0, 1024),  # registers
            (33, 0, 256, 0, 1536),  # rounded up to 40
            (32, 0, 32, 0, 1024),  # cubes
            (32, 99 << 10, 256, 0, 512),  # shared memory
            (32, 1 << 10, 256, 98 << 10, 512),
        ]:
            code = Code(registers=registers, shared=declared)
            self.assertEqual(nvidia.resident(code, units, asked, nvidia.PLACES["sm_90"]), threads, registers)
        cdna = amd.PLACES["gfx942"]
        self.assertEqual([amd.resident(Code(planes=planes), 512, 0, cdna) for planes in (8, 6)], [2048, 1536])
        self.assertEqual(amd.resident(Code(planes=8), 512, 30 << 10, cdna), 1024)

    def test_narrow_accesses_and_spills_are_faults(self):
        case, wide = "contiguous, SinglePass of Float(F32) [1, 16777216] along 1, Sum", Code(loads={128: 9, 32: 2})
        self.assertEqual(faults(case, "single_pass", wide, 2048, None), [])
        narrow = Code(loads={32: 3}, spills=1, stack=8, barriers=6)
        found = faults(case, "single_pass", narrow, 512, Code(barriers=5))
        self.assertEqual(len(found), 4, found)
        self.assertEqual(faults("other, x", "single_pass", narrow, 512, None), [])

    def test_the_simulators_words_are_read(self):
        line = "LAUNCH scan_kernel_f32_0a1b cycles=7164 instructions=3 wall=1.0"
        self.assertEqual(simulate.launch(line), ("scan", 7164))
        self.assertIsNone(simulate.launch("JOB ok"))
        after = "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_{}][TOTAL_ACCESS] = {}\n"
        log = "".join(after.format(access, count) for access, count in [("R", 1), ("W", 2), ("R", 30), ("W", 40)])
        self.assertEqual(simulate.sectors(log), 70)
        self.assertEqual(simulate.share_of_copy("rows of [64, 4096] f32", 1 << 16), 1.0)
        self.assertIsNone(simulate.share_of_copy("sum of 2^18 - 1 f32", 1 << 16))


if __name__ == "__main__":
    unittest.main()
