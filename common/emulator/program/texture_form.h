// What a texture or surface instruction says of itself: Instruction.detail.
#pragma once

#include <stdbool.h>

typedef enum { TEXTURE_1D, TEXTURE_2D, TEXTURE_3D, TEXTURE_CUBE } TextureShape;
typedef enum { SURFACE_LOAD, SURFACE_STORE, SURFACE_REDUCTION } SurfaceOperation;
typedef enum { OUTSIDE_TRAP, OUTSIDE_CLAMP, OUTSIDE_ZERO } OutsideSurface;

typedef struct {
    TextureShape shape;
    bool is_layered, is_surface, is_gather, has_float_coordinates;
    int coordinates; // without the layer
    int channel;     // of tld4
    SurfaceOperation surface;
    OutsideSurface outside;
} TextureForm;

// Instruction.literal[0] of txq and suq.
typedef enum {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_TYPE,
    QUERY_ORDER,
    QUERY_NORMALISED,
    QUERY_LAYERS,
    QUERY_LEVELS,
    QUERY_SAMPLES,
    TEXTURE_QUERIES
} TextureQuery;
