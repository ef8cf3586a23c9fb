# cmake -DIN=file -DOUT=file.cpp -DNAME=identifier [-DNAMESPACE=cllab::model] -P Embed.cmake : the bytes of a file as a C++ array.
if(NOT NAMESPACE)
  set(NAMESPACE cllab::model)
endif()
file(READ ${IN} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "namespace ${NAMESPACE} {\nextern const unsigned char ${NAME}_bytes[];\nextern const unsigned long ${NAME}_size;\nconst unsigned char ${NAME}_bytes[] = {${bytes}0x00};\nconst unsigned long ${NAME}_size = ${size};\n}\n")
