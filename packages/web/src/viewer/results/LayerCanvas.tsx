/** Draws one result layer of a slide: objects, a mask or a heatmap that a program has computed. */
import type { RasterDescriptor, VectorDescriptor } from '@lamina/contract';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { HorizontalSpan } from '../overlay/canvas-overlays.ts';
import { clearCanvas } from '../overlay/clear-canvas.ts';
import type { Placement } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import type { LayerStyle } from './layer-style.ts';
import { RasterLayer } from './raster-layer.ts';
import { clipPathOf } from './swipe.ts';
import { scaled } from './transform.ts';
import { VectorLayer } from './vector-layer.ts';

interface LayerCanvasProps {
  readonly view: SlideView;
  /** The server's description of the layer's content. */
  readonly descriptor: RasterDescriptor | VectorDescriptor;
  readonly style: LayerStyle;
  /** From 0 to 1. */
  readonly opacity: number;
  /** The part of a layer that is shown while it is compared with another layer; undefined: the whole layer is shown. */
  readonly span: HorizontalSpan | undefined;
  /** Called when a part of the layer could not be loaded, and when all visible parts are loaded again. */
  readonly onFailuresChange: (hasFailures: boolean) => void;
}

/** Draws a result layer; implemented by `RasterLayer` and `VectorLayer`. The placement converts image pixels to device pixels. */
interface LayerPainter {
  readonly hasFailures: boolean;
  setStyle(style: LayerStyle): void;
  draw(context: CanvasRenderingContext2D, placement: Placement): void;
  close(): void;
}

const wholeWidth: HorizontalSpan = { from: 0, to: 1 };

/**
 * A canvas over the slide with one result layer. During a movement, the layer is drawn in the same animation frame as the slide.
 * Pointer events pass through the canvas to the slide.
 */
export function LayerCanvas({ view, descriptor, style, opacity, span, onFailuresChange }: LayerCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const currentPainter = useRef<LayerPainter>(null);
  const scheduleDraw = useRef<() => void>(() => undefined);
  /** The current style; a ref, because a new style must not create the painter again. */
  const latestStyle = useRef(style);

  const reportFailures = useEffectEvent(onFailuresChange);

  useEffect(() => {
    let frame = 0; // id of the scheduled animation frame; 0 when none is scheduled
    let hadFailures = false;
    const schedule = () => {
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    const painter: LayerPainter =
      descriptor.kind === 'raster'
        ? new RasterLayer(descriptor, latestStyle.current, schedule)
        : new VectorLayer(descriptor, latestStyle.current, schedule);
    const draw = () => {
      const context = clearCanvas(canvas.current, view);
      const placement = view.placement();
      if (context === null || placement === null) return;
      painter.draw(context, scaled(placement, window.devicePixelRatio));
      if (painter.hasFailures === hadFailures) return;
      hadFailures = painter.hasFailures;
      reportFailures(hadFailures);
    };
    currentPainter.current = painter;
    scheduleDraw.current = schedule;
    const stopWatching = view.watch(draw);
    const resizeObserver = new ResizeObserver(schedule);
    if (canvas.current !== null) resizeObserver.observe(canvas.current);
    schedule();
    return () => {
      cancelAnimationFrame(frame);
      stopWatching();
      resizeObserver.disconnect();
      painter.close();
      if (hadFailures) reportFailures(false);
    };
  }, [view, descriptor]);

  useEffect(() => {
    latestStyle.current = style;
    currentPainter.current?.setStyle(style);
    scheduleDraw.current();
  }, [style]);

  const { from, to } = span ?? wholeWidth;
  useEffect(() => {
    if (canvas.current === null) return;
    return view.addOverlay({ canvas: canvas.current, opacity, span: { from, to } });
  }, [view, opacity, from, to]);

  const clipPath = span && clipPathOf(span);
  return <canvas ref={canvas} data-result-layer={descriptor.id} style={{ opacity, clipPath }} />;
}
