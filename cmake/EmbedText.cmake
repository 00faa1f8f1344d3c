# db_embed_text(OUTPUT.c NAME FILE): a C file with the bytes of FILE as `const char NAME[]`, renewed when FILE changes.
function(db_embed_text output name file)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAME=${name} -DFILE=${file}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    COMMENT "Embedding ${file}"
    VERBATIM)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${FILE} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}") # lines of 16
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  get_filename_component(source ${FILE} NAME)
  file(WRITE ${OUTPUT} "/* ${source}, by cmake/EmbedText.cmake. */\n"
                       "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0\n};\n")
endif()
