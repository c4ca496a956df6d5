/* A canvas as a PNG file. libpng leaves a function by longjmp when it meets
 * an error: everything it owns and the file hang on one struct that lives
 * outside the function with the setjmp, so that nothing is lost or read
 * after a jump.
 */
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"

_Static_assert(sizeof(struct ht_colour) == 3, "rows are packed RGB");

struct writer {
    FILE *file;
    png_structp png;
    png_infop info;
    char message[160]; /* of libpng's error */
};

static void on_error(png_structp png, png_const_charp message) {
    struct writer *writer = png_get_error_ptr(png);
    /* a failed write shows in errno; libpng says only "Write Error" */
    snprintf(writer->message, sizeof writer->message, "%s",
             errno ? strerror(errno) : message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

static bool encode(struct writer *writer, const struct ht_canvas *canvas) {
    if (setjmp(png_jmpbuf(writer->png))) return false;
    png_init_io(writer->png, writer->file);
    png_set_IHDR(writer->png, writer->info, (png_uint_32)canvas->width,
                 (png_uint_32)canvas->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(writer->png, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(writer->png, writer->info);
    for (int64_t j = 0; j < canvas->height; j++)
        png_write_row(writer->png,
                      (png_const_bytep)&canvas->pixel[j * canvas->width]);
    png_write_end(writer->png, writer->info);
    return true;
}

static enum ht_err write_file(const struct ht_canvas *canvas, const char *name,
                              const char *path) {
    struct writer writer = {0};
    writer.file = fopen(name, "wb");
    REQUIRE(writer.file, HT_ERR_IO, "cannot write %s: %s", path,
            strerror(errno));
    errno = 0;
    writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer,
                                         on_error, on_warning);
    if (writer.png) writer.info = png_create_info_struct(writer.png);
    bool ok = writer.info && encode(&writer, canvas);
    png_destroy_write_struct(&writer.png, &writer.info);
    if (fclose(writer.file) != 0 && ok) {
        ok = false;
        snprintf(writer.message, sizeof writer.message, "%s", strerror(errno));
    }
    REQUIRE(ok, HT_ERR_IO, "cannot write %s: %s", path,
            *writer.message ? writer.message : "out of memory");
    return HT_OK;
}

enum ht_err ht_png_write(const struct ht_canvas *canvas, const char *path) {
    char *temporary;
    TRY(ht_file_temporary(path, &temporary));
    enum ht_err err = write_file(canvas, temporary, path);
    if (err)
        remove(temporary);
    else
        err = ht_file_commit(temporary, path);
    free(temporary);
    return err;
}
