# Writes OUTPUT, a source file that holds the text of INPUT as the string constant NAME of namespace
# mf. Long literals are cut into pieces of 4000 characters, which every compiler accepts.
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
set(code "// Generated; do not edit.\n#include <string>\n\nnamespace mf {\n")
string(APPEND code "extern const std::string ${NAME};\nconst std::string ${NAME} =\n")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 4000 piece)
  string(APPEND code "R\"MFTEXT(${piece})MFTEXT\"\n")
  math(EXPR at "${at} + 4000")
endwhile()
string(APPEND code ";\n}  // namespace mf\n")
file(WRITE ${OUTPUT} "${code}")
