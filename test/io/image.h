/* Pictures read back by cairo. */
#pragma once

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct image {
    cairo_surface_t *surface;
    const unsigned char *pixel; /* 4 bytes each; NULL: not read */
    int width, height, stride;
};

static struct image read_image(const char *path) {
    struct image image = {.surface = cairo_image_surface_create_from_png(path)};
    if (cairo_surface_status(image.surface) != CAIRO_STATUS_SUCCESS) return image;
    image.pixel = cairo_image_surface_get_data(image.surface);
    image.width = cairo_image_surface_get_width(image.surface);
    image.height = cairo_image_surface_get_height(image.surface);
    image.stride = cairo_image_surface_get_stride(image.surface);
    return image;
}

static void free_image(struct image *image) {
    cairo_surface_destroy(image->surface);
}

/* 0xRRGGBB; of no image none of these. */
static uint32_t at(const struct image *image, int x, int y) {
    uint32_t value = UINT32_MAX;
    if (!image->pixel) return value;
    const unsigned char *row = image->pixel + (size_t)y * (size_t)image->stride;
    memcpy(&value, row + 4 * (size_t)x, sizeof value);
    return value & 0xffffff;
}

/* The first pixel inside the frame: its corner is the first one with the frame's colour to the
 * right and below. */
static bool find_map(const struct image *image, int *x, int *y) {
    const uint32_t frame = 0x6e6e73;
    for (*y = 0; image->pixel && *y < image->height - 1; ++*y)
        for (*x = 0; *x < image->width - 1; ++*x)
            if (at(image, *x, *y) == frame && at(image, *x + 1, *y) == frame &&
                at(image, *x, *y + 1) == frame) {
                ++*x;
                ++*y;
                return true;
            }
    return false;
}
