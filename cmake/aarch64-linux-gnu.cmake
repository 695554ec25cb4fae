# SPDX-License-Identifier: Apache-2.0
# Cross build for AArch64 with Debian's compilers; tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
# The one header of the tests that no AArch64 package has; it depends on no architecture.
set(DOCTEST_INCLUDE_DIR /usr/include CACHE PATH "")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-cpu;max,sve-max-vq=2;-L;/usr/aarch64-linux-gnu)
