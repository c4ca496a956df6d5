/* Sizes of SEG-Y files. */
#pragma once

enum { SEGY_TEXT = 3200, SEGY_BINARY = 400, SEGY_TRACE = 240, SEGY_LINE = 80 };
