# The device's kernels: instance.cu and spot_instance.cu once per kind and precision, as kernel/instance.c and
# kernel/spot_instance.c are. For each one db_cuda_instances(FUNCTION) calls FUNCTION(tag source definitions...).
function(db_cuda_instances function)
  set(kind_forward 0)
  set(kind_gradient 1)
  set(kind_gradient_cells 2)
  set(kind_general_forward 0)
  set(kind_general_gradient 2)
  set(kind_flat_forward 0) # general, but for curved panels and interpolation
  set(kind_flat_gradient 2)
  set(kind_spots_forward 0)
  set(kind_spots_gradient 1)
  foreach(kind IN ITEMS forward gradient gradient_cells general_forward general_gradient flat_forward flat_gradient
          spots_forward spots_gradient)
    string(REGEX MATCH "^(general|flat|spots)" general ${kind})
    set(source instance.cu)
    if(kind MATCHES "^spots")
      set(source spot_instance.cu)
    endif()
    set(flat "")
    if(kind MATCHES "^flat")
      set(flat DB_INSTANCE_FLAT=1)
    endif()
    foreach(precision IN ITEMS double mixed)
      string(TOUPPER ${precision} PRECISION)
      cmake_language(CALL ${function} ${kind}_${precision} ${source}
        DB_INSTANCE_PRECISION_${PRECISION}=1 DB_INSTANCE_KIND=${kind_${kind}}
        DB_INSTANCE_GENERAL=$<BOOL:${general}> DB_INSTANCE_TAG=${kind}_${precision} ${flat})
    endforeach()
  endforeach()
endfunction()
