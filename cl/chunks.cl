/* Source coefficients in chunks of HT_CHUNK blocks, those of one field after those of the other,
 * for cl/tile.cl and cl/tensor.cl. */
#define HT_FIELD_BLOCKS (HT_PADDED_COEFS / HT_BLOCK) /* blocks of one field */
#define HT_BLOCKS (HT_SOURCES * HT_FIELD_BLOCKS)
#define HT_CHUNKS ((HT_BLOCKS + HT_CHUNK - 1) / HT_CHUNK)
/* Blocks of a chunk that are known to be of one field. */
#if HT_SOURCES == 1 || HT_FIELD_BLOCKS % HT_CHUNK == 0
#define HT_STEPS HT_CHUNK
#else
#define HT_STEPS 1
#endif
