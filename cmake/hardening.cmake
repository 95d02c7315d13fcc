# What makes a mistake in our code harder to exploit: a stack that is watched, calls of libc that know
# the size of what they write to, an address that is new in every run, no table of addresses that can
# be written once the program runs. The test `hardening` looks for each in what was built.
include(CheckCCompilerFlag)
foreach(flag stack-protector-strong stack-clash-protection cf-protection)
    string(MAKE_C_IDENTIFIER "DPLOC_HAS_${flag}" has)
    check_c_compiler_flag("-Werror -f${flag}" ${has})
    if(${has})
        target_compile_options(dploc_flags INTERFACE -f${flag})
    endif()
endforeach()
# Needs optimisation; the sanitizers have checks of their own in its place. -U: some compilers come
# with a level set.
if(NOT DPLOC_SANITIZE AND NOT DPLOC_THREADS_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(dploc_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
target_link_options(dploc_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
