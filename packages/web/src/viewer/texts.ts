/** Every word the viewer shows by itself. */
export const texts = {
  slide: 'Slide. Arrow keys move it, plus and minus zoom, 0 shows the whole slide, R rotates it.',
  controls: 'View controls',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  goHome: 'Go home',
  toggleFullPage: 'Toggle full page',
  rotateLeft: 'Rotate left',
  rotateRight: 'Rotate right',
  magnification: 'Magnification',
  scaleBar: 'Scale bar',
};
