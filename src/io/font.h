/* The letters of pictures: printable ASCII as dots on a 5 x 9 raster. */
#ifndef HTWAVE_IO_FONT_H
#define HTWAVE_IO_FONT_H

enum {
    HT_FONT_COLUMNS = 5,
    HT_FONT_ROWS = 9,   /* the last two below the base line */
    HT_FONT_ASCENT = 7, /* rows from the top to the base line */
    HT_FONT_ADVANCE = 6 /* columns from a letter to the next */
};

/* Rows from the top; bit 4 is the leftmost dot. Characters outside printable
 * ASCII give the question mark. */
const unsigned char *ht_font_glyph(char c);

#endif
