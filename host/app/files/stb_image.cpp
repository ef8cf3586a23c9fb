// The code of the stb headers (JPEG and BMP in, PNG out), with the formats we name in messages and no file access of
// their own. The headers come from a SYSTEM folder, so our warnings do not apply to them.
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_FAILURE_USERMSG
// Memory starts as zeros: what a damaged JPEG leaves undecoded must be the same grey in every run.
#include <cstdlib>
#define STBI_MALLOC(size) std::calloc(1, size)
#define STBI_REALLOC(old, size) std::realloc(old, size)
#define STBI_FREE(old) std::free(old)
#include <stb_image.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>
