import type { Point, Viewer } from 'openseadragon';

/**
 * Corrects gestures on a mirrored slide. OpenSeadragon 6.1 mirrors the positions of drags, clicks and the wheel. It mirrors neither the
 * positions of double clicks and two-finger gestures, nor the direction in which a slide glides after a drag. OpenSeadragon reads the
 * points of these events only after it has called the handlers, so that handlers can mirror the points.
 */
export function correctMirroredGestures(viewer: Viewer): void {
  const mirror = (point: Point) => {
    point.x = viewer.viewport.getContainerSize().x - point.x;
  };
  viewer.addHandler('canvas-double-click', ({ position }) => {
    if (viewer.viewport.getFlip()) mirror(position);
  });
  viewer.addHandler('canvas-pinch', ({ center, lastCenter }) => {
    if (!viewer.viewport.getFlip()) return;
    mirror(center);
    mirror(lastCenter);
  });
  viewer.addHandler('canvas-drag-end', (event) => {
    if (!viewer.viewport.getFlip()) return;
    event.preventDefaultAction = true; // a mirrored slide stops where the drag ends
    viewer.viewport.applyConstraints();
  });
}
