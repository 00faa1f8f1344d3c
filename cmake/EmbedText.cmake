# db_embed_text(OUTPUT.c NAME FILE...): a C file with the bytes of the files, one after the other, as `const char NAME[]`,
# renewed when one of them changes.
function(db_embed_text output name)
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAME=${name} -DFILES=${files}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    COMMENT "Embedding ${name}"
    VERBATIM)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "|" ";" FILES "${FILES}")
  set(all "")
  foreach(file IN LISTS FILES)
    file(READ ${file} bytes HEX)
    string(APPEND all "${bytes}")
  endforeach()
  string(REGEX REPLACE "(................................)" "\\1\n" all "${all}") # lines of 16
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," all "${all}")
  file(WRITE ${OUTPUT} "/* Made by cmake/EmbedText.cmake. */\n"
                       "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${all}0\n};\n")
endif()
