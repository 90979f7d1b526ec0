import { may, type User } from '@lamina/contract';
import { CloseButton, VisuallyHidden } from '@mantine/core';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { loadAnnotationLayers, useAnnotationClasses } from '../../api/annotations.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { toImage } from '../overlay/placement.ts';
import type { Shape } from '../overlay/shapes.ts';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import { AnnotationCanvas } from './AnnotationCanvas.tsx';
import { AnnotationDetails } from './AnnotationDetails.tsx';
import { AnnotationList } from './AnnotationList.tsx';
import classes from './Annotations.module.css';
import { AnnotationTools, toolKeys } from './AnnotationTools.tsx';
import type { AnnotationStore } from './annotation-store.ts';
import { ClassPalette, classificationOf } from './ClassPalette.tsx';
import { ConflictDialog } from './ConflictDialog.tsx';
import { type Tool, tools } from './drafts.ts';
import { featuresOfShapes } from './kept-measurements.ts';
import { LayerFields } from './LayerFields.tsx';
import { AnnotationPointer } from './pointer-tool.ts';
import { precompileBrush } from './precompile-brush.ts';
import { SaveStateNote } from './SaveStateNote.tsx';
import { texts } from './texts.ts';
import { useAnnotationActions } from './use-annotation-actions.ts';
import { type SlideAnnotations, useAnnotations, useSessionValue, useStoreValue } from './use-annotations.ts';
import { type DrawingKeys, useDrawingKeys } from './use-drawing-keys.ts';
import { useSpaceHeld } from './use-space-held.ts';

export interface AnnotationsProps {
  readonly view: SlideView;
  readonly imageId: string;
  /** Dataset with the annotation classes; null for the default classes. */
  readonly dataset: string | null;
  /** Format of the slide file, such as `mirax`; null when it is not known. */
  readonly format: string | null;
  readonly user: User;
  readonly calibration: Calibration | null; // null for a slide without a scale
  /** Whether the drawing mode is on. */
  readonly isDrawing: boolean;
  /** Called when the user ends the drawing mode. */
  readonly onDone: () => void;
  /**
   * Element above the scale bar that contains the class palette and the hint in the drawing mode, and the save state; null before
   * it exists.
   */
  readonly foot: HTMLElement | null;
  readonly areAllToolsShown: boolean; // whether a phone shows all tools; at first, it hides most of them
  readonly onToggleAllTools: () => void;
  /** Measurements that the user wants to keep: they become annotations as soon as the annotations are open. */
  readonly shapesToKeep: readonly Shape[];
  /** Called when `shapesToKeep` have become annotations. */
  readonly onKept: () => void;
  /** Called with the store of the annotations when they are open, and with null when they are closed. Must be a stable function. */
  readonly onOpen: (store: AnnotationStore | null) => void;
}

/**
 * Shows the annotations of a slide and, in the drawing mode, the tools that change them. `AnnotationsGate` loads this code when a
 * slide needs it.
 */
export function Annotations(props: AnnotationsProps) {
  const { view, imageId, user, calibration, isDrawing, foot, onOpen } = props;
  const slideAnnotations = useAnnotations(imageId, user.uid);
  useEffect(() => {
    onOpen(slideAnnotations?.store ?? null);
    return () => onOpen(null);
  }, [slideAnnotations, onOpen]);
  useMeasurementConversion(slideAnnotations, props);
  if (slideAnnotations === null) return null;
  return (
    <>
      <AnnotationCanvas
        view={view}
        slideAnnotations={slideAnnotations}
        calibration={calibration}
        isDrawing={isDrawing}
      />
      {isDrawing && <DrawingMode {...props} slideAnnotations={slideAnnotations} />}
      {!isDrawing &&
        foot !== null &&
        createPortal(<SaveStateNote slideAnnotations={slideAnnotations} uid={user.uid} onlyProblems />, foot)}
      <ConflictDialog slideAnnotations={slideAnnotations} />
    </>
  );
}

interface DrawingModeProps extends AnnotationsProps {
  readonly slideAnnotations: SlideAnnotations;
}

/** The drawing mode: tools, palette, list and keys. */
function DrawingMode({
  view,
  slideAnnotations,
  dataset,
  format,
  user,
  calibration,
  foot,
  onDone,
  ...props
}: DrawingModeProps) {
  const { store, session } = slideAnnotations; // `session`: the tool, the draft (unfinished shape) and the brush
  const tool = useSessionValue(session, (state) => state.tool);
  const canDrawOnActiveLayer = useStoreValue(store, (state) => state.canDrawOn(state.activeLayerId));
  const hasSelection = useStoreValue(store, ({ selection }) => selection.size > 0);
  const hasDraft = useSessionValue(session, ({ draft }) => draft !== null);
  const mayDraw = may(user, 'annotations.write'); // whether the role of the account allows drawing at all
  // The list is open at first, except on a phone (at most 48em wide) of a user who may draw.
  const [isListOpen, setListOpen] = useState(
    () => !mayDraw || !window.matchMedia('(max-width: 48em)').matches,
  );
  /** The last message for screen readers. */
  const [announcement, setAnnouncement] = useState('');
  const actions = useAnnotationActions(slideAnnotations, view, setAnnouncement);
  const datasetClasses = useAnnotationClasses(dataset);
  const isSpaceHeld = useSpaceHeld(); // a function; while it returns true, dragging moves the slide with every tool
  const pointer = usePointer(view, slideAnnotations, tool, isSpaceHeld);

  /** Has the effect of a click in the middle of the view; called for the Enter key. */
  const addAtCentre = () => {
    const placement = view.placement();
    if (placement === null) return;
    if (session.tool === 'wand') {
      const noKeys = { alt: false, shift: false };
      pointer.current?.applyWandAt(view.centre(), noKeys);
      return;
    }
    const { x, y } = toImage(placement, view.centre());
    const lastPoint = session.draft?.kind === 'path' ? session.draft.placed.at(-1) : undefined;
    // Adding the same point twice (less than one image pixel apart) completes the shape.
    if (lastPoint !== undefined && Math.hypot(lastPoint[0] - x, lastPoint[1] - y) < 1) session.finish();
    else session.addPoint([x, y]);
  };
  const finishDrawing = () => {
    session.chooseTool('move');
    store.select([]);
    onDone();
  };
  const classKeys: Record<string, () => void> = {};
  for (const datasetClass of datasetClasses) {
    const { shortcut } = datasetClass;
    if (shortcut !== null) classKeys[shortcut] = () => session.classify(classificationOf(datasetClass));
  }
  const keys: DrawingKeys = {
    // Without anything to cancel, Esc closes a panel of the viewer.
    ...((hasDraft || hasSelection || tool !== 'move') && {
      Escape: () => {
        if (!view.cancelPress()) session.cancel();
      },
    }),
    // `mod` is Ctrl or Command. Without a selected annotation, the browser copies the selected text.
    ...(hasSelection && { 'mod+c': actions.copy }),
    d: finishDrawing,
    ...(mayDraw && {
      ...Object.fromEntries(
        tools.map((name) => [toolKeys[name].toLowerCase(), () => session.chooseTool(name)]),
      ),
      0: () => session.classify(null),
      ...classKeys,
      Delete: actions.remove,
      Backspace: actions.remove,
      Enter: addAtCentre,
      'mod+z': actions.undo,
      'mod+shift+z': actions.redo,
      'mod+y': actions.redo,
      'mod+d': actions.duplicate,
    }),
  };
  useDrawingKeys(keys);
  usePaste(mayDraw, actions.paste);

  const reload = () => {
    loadAnnotationLayers(store.imageId).then(
      async (layers) => {
        await store.setLayers(layers, user.uid);
        await store.reloadOutdatedLayers(layers);
      },
      () => undefined, // the page keeps what it shows, such as the error message whose button calls this function
    );
  };

  return (
    <>
      <AnnotationTools
        slideAnnotations={slideAnnotations}
        actions={actions}
        mayDraw={mayDraw}
        isListOpen={isListOpen}
        onToggleList={() => setListOpen(!isListOpen)}
        areAllShown={props.areAllToolsShown}
        onToggleAll={props.onToggleAllTools}
        onDone={finishDrawing}
      />
      {isListOpen && (
        // `lang`: English unless the user has chosen Turkish.
        <section className={classes.panel} aria-label={texts.annotations} lang={chosenLanguageOr('en')}>
          <div className={classes.panelHead}>
            {texts.annotations}
            <CloseButton size="sm" aria-label={texts.hideList} onClick={() => setListOpen(false)} />
          </div>
          <LayerFields
            slideAnnotations={slideAnnotations}
            mayDraw={mayDraw}
            mayManageAllLayers={may(user, 'annotations.manage')}
            hasScannedArea={format === 'mirax'}
            onReload={reload}
          />
          <AnnotationList slideAnnotations={slideAnnotations} actions={actions} calibration={calibration} />
          <AnnotationDetails slideAnnotations={slideAnnotations} datasetClasses={datasetClasses} />
        </section>
      )}
      {foot !== null &&
        createPortal(
          <div className={classes.bar}>
            {mayDraw && (
              <p className={classes.note}>{canDrawOnActiveLayer ? texts.hint[tool] : texts.readOnly}</p>
            )}
            <SaveStateNote slideAnnotations={slideAnnotations} uid={user.uid} onlyProblems={!mayDraw} />
            {mayDraw && <ClassPalette slideAnnotations={slideAnnotations} classes={datasetClasses} />}
          </div>,
          foot,
        )}
      <VisuallyHidden aria-live="polite">{announcement}</VisuallyHidden>
    </>
  );
}

/**
 * Converts the measurements in `shapesToKeep` into annotations once the annotations are open. The new annotations belong to the active
 * layer, or to the user's own layer if the user may not draw on the active one.
 */
function useMeasurementConversion(
  slideAnnotations: SlideAnnotations | null,
  { shapesToKeep, onKept, calibration }: AnnotationsProps,
): void {
  const convert = useEffectEvent((store: SlideAnnotations['store']) => {
    const features = featuresOfShapes(shapesToKeep, calibration);
    const layerId = store.canDrawOn(store.activeLayerId) ? store.activeLayerId : store.ownLayerId;
    store.change(features.map((feature) => ({ feature, layerId })));
    onKept();
  });
  useEffect(() => {
    if (slideAnnotations !== null && shapesToKeep.length > 0) convert(slideAnnotations.store);
  }, [slideAnnotations, shapesToKeep]);
}

/**
 * Sends pointer events to the chosen tool in the drawing mode. `hitIndex` finds the annotations at the pointer.
 *
 * @returns a reference to the handler of these events
 */
function usePointer(
  view: SlideView,
  { store, session, hitIndex }: SlideAnnotations,
  tool: Tool,
  isSpaceHeld: () => boolean,
): RefObject<AnnotationPointer | null> {
  const pointer = useRef<AnnotationPointer | null>(null);
  useEffect(() => {
    if (tool === 'brush') precompileBrush(); // the first stroke would otherwise be slow
    const cursor = cursorOf(tool);
    pointer.current = new AnnotationPointer({ view, store, session, hitIndex, isSpaceHeld, cursor });
    view.setPointerTool(pointer.current);
    return () => {
      view.setPointerTool(null);
      session.setPointer(null); // hides the circle of the brush
    };
  }, [view, store, session, hitIndex, isSpaceHeld, tool]);
  return pointer;
}

/** Returns the CSS cursor of a tool: none for the brush, which draws a circle instead. */
function cursorOf(tool: Tool): string {
  if (tool === 'move') return 'default';
  return tool === 'brush' ? 'none' : 'crosshair';
}

/** While `isActive`, calls `paste` with text that is pasted anywhere on the page except in a text field. */
function usePaste(isActive: boolean, paste: (text: string) => void): void {
  const onPaste = useEffectEvent((event: ClipboardEvent) => {
    const isInField =
      event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!isActive || isInField || text === '') return;
    event.preventDefault();
    paste(text);
  });
  useEffect(() => {
    const listen = (event: ClipboardEvent) => onPaste(event);
    document.addEventListener('paste', listen);
    return () => document.removeEventListener('paste', listen);
  }, []);
}
