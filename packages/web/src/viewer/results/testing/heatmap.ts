import type { RasterDescriptor } from '@lamina/contract';

/** A heatmap of values from 0 to 1, ten slide pixels per pixel. */
export const heatmap: RasterDescriptor = {
  kind: 'raster',
  id: 'l',
  image_id: 'i',
  name: 'Heatmap',
  width: 100,
  height: 80,
  tile_size: 256,
  levels: [{ z: 0, width: 100, height: 80, scale: 1 }],
  value_type: 'float32',
  value_range: { min: 0, max: 1 },
  usual_range: null,
  encoding: { scale: 1 / 254, offset: 0, no_data: 255 },
  categories: null,
  registration: [10, 0, 0, 10, 0, 0],
};
