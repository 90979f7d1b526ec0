/** Converts catalogue entries into slides for the viewer. */
import type { Image } from '@lamina/contract';
import { useMemo } from 'react';
import { colourTableUrl, descriptorUrl, tileUrl } from '../api/images.ts';
import type { ViewedSlide } from './viewed-slide.ts';

/**
 * Converts a catalogue entry into the viewer's description of a slide. Returns null if there is no entry, and while the image is not
 * ready. The returned object stays the same until one of the values used here changes, so that reloading the catalogue does not
 * open the slide again.
 */
export function useViewedSlide(image: Image | null): ViewedSlide | null {
  const {
    id,
    status,
    file_name,
    mpp_x,
    mpp_y,
    objective_power,
    mpp_derived,
    objective_power_derived,
    scale_entered,
    shown_plane,
    dataset_name,
    format,
  } = image ?? notReady;
  // These numbers, not `shown_plane`, are dependencies of the memo: a reloaded catalogue has a new object with equal numbers.
  const { plane, planes, times } = shown_plane ?? { plane: 1, planes: 1, times: 1 };
  return useMemo(() => {
    if (status !== 'ready') return null;
    const derivedPower = objective_power_derived ? 'objectivePower' : null;
    const derived = mpp_derived ? 'mpp' : derivedPower;
    return {
      descriptorUrl: descriptorUrl(id),
      tileUrlOf: (tile, colour) => tileUrl(id, tile, colour),
      colourTableUrl: colourTableUrl(id),
      scale: {
        mpp: mpp_x,
        mppY: mpp_y,
        objectivePower: objective_power,
        derived,
        ...(scale_entered === true && { isEntered: true }),
      },
      ...((planes > 1 || times > 1) && { shownPlane: { plane, planes, times } }),
      name: file_name || id,
      annotatedSlide: { imageId: id, dataset: dataset_name, format },
    };
  }, [
    id,
    status,
    file_name,
    mpp_x,
    mpp_y,
    objective_power,
    mpp_derived,
    objective_power_derived,
    scale_entered,
    plane,
    planes,
    times,
    dataset_name,
    format,
  ]);
}

/** Replaces a missing catalogue entry; because of its status, `useViewedSlide` returns null. */
const notReady = {
  id: '',
  status: 'pending',
  file_name: '',
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  mpp_derived: false,
  objective_power_derived: false,
  scale_entered: undefined,
  shown_plane: undefined,
  dataset_name: null,
  format: null,
} as const;
