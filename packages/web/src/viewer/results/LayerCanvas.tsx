import type { RasterDescriptor, VectorDescriptor } from '@lamina/contract';
import { useEffect, useRef } from 'react';
import { clearCanvas } from '../overlay/clear-canvas.ts';
import type { Placement } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import type { LayerStyle } from './object-filter.ts';
import { RasterLayer } from './raster-layer.ts';
import { scaled } from './transform.ts';
import { VectorLayer } from './vector-layer.ts';

interface LayerCanvasProps {
  readonly view: SlideView;
  readonly descriptor: RasterDescriptor | VectorDescriptor;
  readonly style: LayerStyle;
  /** 0 to 1. */
  readonly opacity: number;
  /** `clip-path` of a compared layer; undefined: the whole layer is shown. */
  readonly clip: string | undefined;
}

interface Painted {
  setStyle(style: LayerStyle): void;
  draw(context: CanvasRenderingContext2D, placement: Placement): void;
  close(): void;
}

/** One result layer over the slide, drawn in the same frame as the slide. Pointers pass through to the slide. */
export function LayerCanvas({ view, descriptor, style, opacity, clip }: LayerCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const layer = useRef<Painted>(null);
  const drawLater = useRef<() => void>(() => undefined);
  const styleNow = useRef(style);

  useEffect(() => {
    let frame = 0;
    const later = () => {
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    const painted: Painted =
      descriptor.kind === 'raster'
        ? new RasterLayer(descriptor, styleNow.current, later)
        : new VectorLayer(descriptor, styleNow.current, later);
    const draw = () => {
      const context = clearCanvas(canvas.current, view);
      const placement = view.placement();
      if (context === null || placement === null) return;
      painted.draw(context, scaled(placement, window.devicePixelRatio));
    };
    layer.current = painted;
    drawLater.current = later;
    const endWatch = view.watch(draw);
    const resized = new ResizeObserver(later);
    if (canvas.current !== null) resized.observe(canvas.current);
    later();
    return () => {
      cancelAnimationFrame(frame);
      endWatch();
      resized.disconnect();
      painted.close();
    };
  }, [view, descriptor]);

  useEffect(() => {
    styleNow.current = style;
    layer.current?.setStyle(style);
    drawLater.current();
  }, [style]);

  return <canvas ref={canvas} data-result-layer={descriptor.id} style={{ opacity, clipPath: clip }} />;
}
