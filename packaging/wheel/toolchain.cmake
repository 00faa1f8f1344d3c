# Compiles C by gcc and C++ by zig, and links by zig, which has the C library of any age: what this makes runs with glibc 2.28 or
# later. The environment names the processor (WHEEL_PROCESSOR) and zig (WHEEL_ZIG). Libraries are those of libraries.sh alone.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{WHEEL_PROCESSOR})
set(CMAKE_LIBRARY_ARCHITECTURE "") # no folders of the system
set(prefix ${CMAKE_CURRENT_LIST_DIR}/../../build/wheel/${CMAKE_SYSTEM_PROCESSOR})
get_filename_component(prefix ${prefix} ABSOLUTE)
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CMAKE_C_FLAGS_INIT -mno-outline-atomics) # their functions are in gcc's library, and not all of them in zig's
endif()
set(CMAKE_CXX_COMPILER $ENV{WHEEL_ZIG} c++ -target ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu.2.28)
set(CMAKE_FIND_ROOT_PATH ${prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${prefix}/lib/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR env)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR}-static -L /usr/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
endif()

# threads of gcc's OpenMP
set(OpenMP_C_FLAGS -fopenmp CACHE STRING "")
set(OpenMP_C_LIB_NAMES gomp CACHE STRING "")
set(OpenMP_gomp_LIBRARY ${prefix}/lib/libgomp.a CACHE FILEPATH "")

string(JOIN " " link ${CMAKE_CXX_COMPILER} -s <LINK_FLAGS>)
set(system "-lm -lpthread -ldl")
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_LINK_EXECUTABLE "${link} <OBJECTS> -o <TARGET> <LINK_LIBRARIES> ${system}")
  set(CMAKE_${language}_CREATE_SHARED_LIBRARY
      "${link} -shared <SONAME_FLAG><TARGET_SONAME> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> ${system}")
  set(CMAKE_${language}_CREATE_SHARED_MODULE "${link} -shared <OBJECTS> -o <TARGET> <LINK_LIBRARIES> ${system}")
endforeach()
