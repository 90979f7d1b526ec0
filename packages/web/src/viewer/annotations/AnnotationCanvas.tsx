import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import { clearCanvas } from '../overlay/clear-canvas.ts';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import classes from './Annotations.module.css';
import { drawDraft } from './draft-painter.ts';
import { AnnotationPainter, type ViewSize } from './painter.ts';
import type { OpenAnnotations } from './use-annotations.ts';

interface AnnotationCanvasProps {
  readonly view: SlideView;
  readonly open: OpenAnnotations;
  readonly calibration: Calibration | null;
  readonly isDrawing: boolean;
}

/**
 * The annotations over the slide: one canvas for all of them, another for what changes while the pointer moves. Both are drawn
 * in the same frame as the slide. Pointers pass through to the slide.
 */
export function AnnotationCanvas({ view, open, calibration, isDrawing }: AnnotationCanvasProps) {
  const all = useRef<HTMLCanvasElement>(null);
  const inHand = useRef<HTMLCanvasElement>(null);
  const { store, session } = open;
  const isLive = useSyncExternalStore(store.listen, () => store.isLive);

  const drawInHand = useEffectEvent(() => {
    const context = clearCanvas(inHand.current, view);
    const placement = view.placement();
    if (context === null || placement === null) return;
    drawDraft({ context, placement, size: sizeOf(view), store, session, calibration, isDrawing });
  });

  useEffect(() => {
    const painter = new AnnotationPainter();
    painter.reset(store.all().filter((each) => store.isVisible(each)));
    let frame = 0;
    let isAllStale = false;
    const drawAll = () => {
      isAllStale = false;
      const context = clearCanvas(all.current, view);
      const placement = view.placement();
      if (context !== null && placement !== null && painter.draw(context, placement, sizeOf(view)))
        later(true);
    };
    const later = (isAll: boolean) => {
      isAllStale ||= isAll;
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        if (isAllStale) drawAll();
        drawInHand();
      });
    };
    const drawNow = () => {
      drawAll();
      drawInHand();
    };
    const ends = [
      view.watch(drawNow),
      session.listen(() => later(false)),
      store.listen((ids) => {
        if (ids === null) painter.reset(store.all().filter((each) => store.isVisible(each)));
        for (const id of ids ?? []) {
          const annotation = store.find(id);
          painter.set(id, annotation !== undefined && store.isVisible(annotation) ? annotation : null);
        }
        later(ids === null || ids.length > 0);
      }),
    ];
    const resized = new ResizeObserver(() => later(true));
    if (all.current !== null) resized.observe(all.current);
    later(true);
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
      for (const end of ends) end();
    };
  }, [view, store, session]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again when the mode or the scale changes
  useEffect(() => drawInHand(), [isDrawing, calibration]);

  return (
    <div className={classes.canvases} aria-hidden="true" data-live={isLive || undefined}>
      <canvas ref={all} />
      <canvas ref={inHand} />
    </div>
  );
}

function sizeOf(view: SlideView): ViewSize {
  return { ...view.size(), pixelRatio: window.devicePixelRatio };
}
