import { useMemo } from 'react';
import { type CatalogueImage, descriptorAddress, tileAddress } from '../../api/images.ts';
import type { ViewedSlide } from '../../viewer/SlideViewer.tsx';

/**
 * An image as the viewer needs it, null while there is nothing to view. Made anew for another image only: the same one
 * again, from a list loaded again, is not opened again.
 */
export function useViewedSlide(image: CatalogueImage | null): ViewedSlide | null {
  const { id, status, file_name, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived } =
    image ?? notReady;
  return useMemo(() => {
    if (status !== 'ready') return null;
    const derived = mpp_derived ? 'mpp' : objective_power_derived ? 'objectivePower' : null;
    return {
      descriptorAddress: descriptorAddress(id),
      tileAddressOf: (tile) => tileAddress(id, tile),
      scale: { mpp: mpp_x, mppY: mpp_y, objectivePower: objective_power, derived },
      name: file_name ?? id,
    };
  }, [id, status, file_name, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived]);
}

const notReady = {
  id: '',
  status: 'pending',
  file_name: null,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  mpp_derived: false,
  objective_power_derived: false,
} as const;
