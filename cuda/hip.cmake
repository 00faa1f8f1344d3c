# libdualbragg_hip: AMD GPUs as devices, from the same sources. Kernels are compiled by a clang that knows HIP, without
# ROCm's headers and device libraries, of which they need nothing; the host's code needs HIP's headers and libamdhip64.
include(instances.cmake)
set(DB_HIP_DEVICE_FLAGS -x hip -std=c++17 -O3 -fPIC -nogpuinc -nogpulib -Wno-pass-failed -Wno-constant-logical-operand -D__HIP_PLATFORM_AMD__)
foreach(architecture IN LISTS DB_HIP_ARCHITECTURES)
  list(APPEND DB_HIP_DEVICE_FLAGS --offload-arch=${architecture})
endforeach()

file(GLOB DB_HIP_SOURCES CONFIGURE_DEPENDS *.c)
add_library(dualbragg_hip STATIC ${DB_HIP_SOURCES})
target_compile_definitions(dualbragg_hip PUBLIC DB_HIP=1 PRIVATE __HIP_PLATFORM_AMD__=1)
target_include_directories(dualbragg_hip PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/hip_include)
target_include_directories(dualbragg_hip SYSTEM PRIVATE ${DB_HIP_INCLUDE})
target_link_libraries(dualbragg_hip PUBLIC dualbragg PRIVATE ${DB_HIP_LIBRARY} stdc++)
if(DB_HAVE_OPENMP)
  target_link_libraries(dualbragg_hip PRIVATE OpenMP::OpenMP_C)
endif()

set(DB_HIP_INCLUDES "")
foreach(folder IN ITEMS src/include src .)
  list(APPEND DB_HIP_INCLUDES -I${PROJECT_SOURCE_DIR}/${folder})
endforeach()
foreach(folder IN ITEMS ${DB_HIP_INCLUDE} ${DB_RANDOM123_INCLUDE})
  list(APPEND DB_HIP_INCLUDES -idirafter ${folder})
endforeach()
function(db_add_hip_object name source)
  set(definitions ${ARGN})
  list(TRANSFORM definitions PREPEND -D)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/hip_${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${DB_HIP_COMPILER} ${DB_HIP_DEVICE_FLAGS} ${DB_HIP_FLAGS_${name}} ${definitions} ${DB_HIP_INCLUDES} -MD -MF ${object}.d
            -c -o ${object} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "HIP: ${name}" VERBATIM COMMAND_EXPAND_LISTS)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(dualbragg_hip PRIVATE ${object})
endfunction()
db_cuda_instances(db_add_hip_object)
db_add_hip_object(add_slots add_slots.cu)
db_add_hip_object(add_images add_images.cu)
db_add_hip_object(box_sums box_sums.cu)
set(DB_HIP_FLAGS_surroundings -ffp-contract=off) # the same bits as the processor, as noise
db_add_hip_object(surroundings surroundings_rows.cu)
db_add_hip_object(copy_parts copy_parts.cu)
db_add_hip_object(measure_boxes measure_boxes.cu)
if(DB_HAVE_RANDOM123)
  set(DB_HIP_FLAGS_noise -ffp-contract=off) # the same bits as the processor
  db_add_hip_object(noise noise_pixels.cu)
endif()
