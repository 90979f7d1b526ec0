import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import { clearCanvas } from '../overlay/clear-canvas.ts';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import classes from './Annotations.module.css';
import { drawDraft } from './draft-painter.ts';
import { AnnotationPainter, type ViewSize } from './painter.ts';
import type { SlideAnnotations } from './use-annotations.ts';

interface AnnotationCanvasProps {
  readonly view: SlideView;
  readonly slideAnnotations: SlideAnnotations;
  readonly calibration: Calibration | null; // null for a slide without a scale
  readonly isDrawing: boolean; // whether the drawing mode is on
}

/**
 * Draws the annotations over the slide: one canvas with all annotations, and a second canvas with the selection, the
 * draft (the unfinished shape) and the brush, which change while the pointer moves. Both canvases are drawn in the same
 * frame as the slide. Pointer events pass through to the slide.
 */
export function AnnotationCanvas({ view, slideAnnotations, calibration, isDrawing }: AnnotationCanvasProps) {
  const allCanvas = useRef<HTMLCanvasElement>(null);
  const draftCanvas = useRef<HTMLCanvasElement>(null);
  const { store, session } = slideAnnotations; // `session` is the state of drawing: tool, draft, brush
  const isLive = useSyncExternalStore(store.listen, () => store.isLive); // whether changes of other users arrive

  const drawDraftCanvas = useEffectEvent(() => {
    const context = clearCanvas(draftCanvas.current, view);
    const placement = view.placement();
    if (context === null || placement === null) return; // `placement` is null before the slide is open
    drawDraft({ context, placement, size: sizeOf(view), store, session, calibration, isDrawing });
  });

  useEffect(() => {
    const painter = new AnnotationPainter();
    const resetPainter = () => painter.reset(store.all().filter((annotation) => store.isVisible(annotation)));
    resetPainter();
    let frame = 0; // id of the scheduled animation frame; 0 when none is scheduled
    /** Whether the next frame must draw the canvas with all annotations, not only the one with the draft. */
    let isAllCanvasStale = false;
    const drawAll = () => {
      isAllCanvasStale = false;
      const context = clearCanvas(allCanvas.current, view);
      const placement = view.placement();
      if (context === null || placement === null) return;
      const isIncomplete = painter.draw(context, placement, sizeOf(view));
      if (isIncomplete) scheduleDraw('all'); // the painter limits its time per frame and continues in the next one
    };
    const scheduleDraw = (canvases: 'all' | 'draft') => {
      isAllCanvasStale ||= canvases === 'all';
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        if (isAllCanvasStale) drawAll();
        drawDraftCanvas();
      });
    };
    const drawBoth = () => {
      drawAll();
      drawDraftCanvas();
    };
    const subscriptions = [
      view.watch(drawBoth), // draws at once, not in the next frame: the annotations then move together with the slide
      session.listen(() => scheduleDraw('draft')),
      store.listen((ids) => {
        if (ids === null) resetPainter(); // all annotations may have changed
        for (const id of ids ?? []) {
          const annotation = store.find(id);
          painter.set(id, annotation !== undefined && store.isVisible(annotation) ? annotation : null);
        }
        scheduleDraw(ids === null || ids.length > 0 ? 'all' : 'draft'); // no ids: only other state has changed
      }),
    ];
    const resizeObserver = new ResizeObserver(() => scheduleDraw('all'));
    if (allCanvas.current !== null) resizeObserver.observe(allCanvas.current);
    scheduleDraw('all');
    return () => {
      cancelAnimationFrame(frame);
      resizeObserver.disconnect();
      for (const unsubscribe of subscriptions) unsubscribe();
    };
  }, [view, store, session]);

  // Saved pictures show the annotations, but neither the handles of the selection nor a draft.
  useEffect(() => {
    if (allCanvas.current === null) return;
    return view.addOverlay({ canvas: allCanvas.current });
  }, [view]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft must be drawn again when the mode or the scale changes
  useEffect(() => drawDraftCanvas(), [isDrawing, calibration]);

  return (
    // The browser tests wait for `data-live`.
    <div className={classes.canvases} aria-hidden="true" data-live={isLive || undefined}>
      <canvas ref={allCanvas} />
      <canvas ref={draftCanvas} />
    </div>
  );
}

function sizeOf(view: SlideView): ViewSize {
  return { ...view.size(), pixelRatio: window.devicePixelRatio };
}
