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
import { SaveStateNote } from './SaveStateNote.tsx';
import { texts } from './texts.ts';
import { useAnnotationActions } from './use-annotation-actions.ts';
import { type OpenAnnotations, useAnnotations, useSessionValue, useStoreValue } from './use-annotations.ts';
import { type DrawingKeys, useDrawingKeys } from './use-drawing-keys.ts';
import { warmBrush } from './warm-brush.ts';

export interface AnnotationsProps {
  readonly view: SlideView;
  readonly imageId: string;
  /** Dataset with the annotation classes; null for the default classes. */
  readonly dataset: string | null;
  readonly user: User;
  readonly calibration: Calibration | null; // null for a slide without a scale
  /** Whether the drawing mode is on. */
  readonly isDrawing: boolean;
  readonly onDone: () => void;
  /** Element above the scale in which the palette, the hint and the save state are rendered; null before it exists. */
  readonly foot: HTMLElement | null;
  readonly areAllToolsShown: boolean;
  readonly onToggleAllTools: () => void;
  /** Measurements that become annotations as soon as the annotations are open. */
  readonly shapesToKeep: readonly Shape[];
  readonly onKept: () => void;
  /** Called with the annotations when they are open, and with null when they are closed; always the same function. */
  readonly onOpen: (store: AnnotationStore | null) => void;
}

/**
 * Shows the annotations of a slide and, in the drawing mode, the tools that change them. `AnnotationsGate` loads this code when a
 * slide needs it.
 */
export function Annotations(props: AnnotationsProps) {
  const { view, imageId, user, calibration, isDrawing, onOpen } = props;
  const openAnnotations = useAnnotations(imageId, user.uid);
  useEffect(() => {
    onOpen(openAnnotations?.store ?? null);
    return () => onOpen(null);
  }, [openAnnotations, onOpen]);
  useKeptMeasurements(openAnnotations, props);
  if (openAnnotations === null) return null;
  return (
    <>
      <AnnotationCanvas
        view={view}
        openAnnotations={openAnnotations}
        calibration={calibration}
        isDrawing={isDrawing}
      />
      {isDrawing && <DrawingMode {...props} openAnnotations={openAnnotations} />}
      <ConflictDialog openAnnotations={openAnnotations} />
    </>
  );
}

interface DrawingModeProps extends AnnotationsProps {
  readonly openAnnotations: OpenAnnotations;
}

/** The drawing mode: tools, palette, list and keys. */
function DrawingMode({
  view,
  openAnnotations,
  dataset,
  user,
  calibration,
  foot,
  onDone,
  ...props
}: DrawingModeProps) {
  const { store, session } = openAnnotations;
  const tool = useSessionValue(session, (state) => state.tool);
  const mayDrawHere = useStoreValue(store, (state) => state.canDrawOn(state.activeLayerId));
  const isNoneSelected = useStoreValue(store, ({ selection }) => selection.size === 0);
  const mayDraw = may(user, 'annotations.write');
  // A phone shows the list only on request, unless the list is all that the person can use.
  const [isListOpen, setListOpen] = useState(
    () => !mayDraw || !window.matchMedia('(max-width: 48em)').matches,
  );
  const [news, setNews] = useState('');
  const actions = useAnnotationActions(openAnnotations, view, setNews);
  const datasetClasses = useAnnotationClasses(dataset);
  const isPanning = useSpaceHeld();
  const pointer = usePointer(view, openAnnotations, tool, isPanning);

  /** Does what a click in the middle of the view would do, for the Enter key. */
  const addAtCentre = () => {
    const placement = view.placement();
    if (placement === null) return;
    if (session.tool === 'wand') {
      const noKeys = { alt: false, shift: false };
      pointer.current?.wandAt(view.centre(), noKeys);
      return;
    }
    const { x, y } = toImage(placement, view.centre());
    const lastPoint = session.draft?.kind === 'path' ? session.draft.fixed.at(-1) : undefined;
    // Adding the same point twice (less than one image pixel apart) completes the shape.
    if (lastPoint !== undefined && Math.hypot(lastPoint[0] - x, lastPoint[1] - y) < 1) session.finish();
    else session.addPoint([x, y]);
  };
  const finishDrawing = () => {
    session.choose('move');
    store.select([]);
    onDone();
  };
  const keys: DrawingKeys = {
    Escape: () => session.cancel(),
    ...(!isNoneSelected && { 'mod+c': actions.copy }),
    d: finishDrawing,
    ...(mayDraw && {
      ...Object.fromEntries(tools.map((tool) => [toolKeys[tool].toLowerCase(), () => session.choose(tool)])),
      0: () => session.classify(null),
      ...Object.fromEntries(
        datasetClasses.flatMap((each) =>
          each.shortcut === null ? [] : [[each.shortcut, () => session.classify(classificationOf(each))]],
        ),
      ),
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
        await store.reloadOlderLayers(layers);
      },
      () => undefined, // the message with the button that calls this stays on the screen
    );
  };
  const discard = () => {
    loadAnnotationLayers(store.imageId).then(
      (layers) => store.discard(layers, user.uid),
      () => undefined, // the message with the button that calls this stays on the screen
    );
  };

  return (
    <>
      <AnnotationTools
        openAnnotations={openAnnotations}
        actions={actions}
        mayDraw={mayDraw}
        isListOpen={isListOpen}
        onToggleList={() => setListOpen(!isListOpen)}
        areAllShown={props.areAllToolsShown}
        onToggleAll={props.onToggleAllTools}
        onDone={finishDrawing}
      />
      {isListOpen && (
        <section className={classes.panel} aria-label={texts.annotations} lang={chosenLanguageOr('en')}>
          <div className={classes.panelHead}>
            {texts.annotations}
            <CloseButton size="sm" aria-label={texts.hideList} onClick={() => setListOpen(false)} />
          </div>
          <LayerFields openAnnotations={openAnnotations} mayDraw={mayDraw} onReload={reload} />
          <AnnotationList openAnnotations={openAnnotations} actions={actions} calibration={calibration} />
          <AnnotationDetails openAnnotations={openAnnotations} datasetClasses={datasetClasses} />
        </section>
      )}
      {foot !== null &&
        createPortal(
          <div className={classes.bar}>
            {mayDraw && <p className={classes.note}>{mayDrawHere ? texts.hint[tool] : texts.readOnly}</p>}
            {mayDraw && <SaveStateNote openAnnotations={openAnnotations} onDiscard={discard} />}
            {mayDraw && <ClassPalette openAnnotations={openAnnotations} classes={datasetClasses} />}
          </div>,
          foot,
        )}
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
    </>
  );
}

/** Converts kept measurements into annotations once the annotations are open. */
function useKeptMeasurements(
  openAnnotations: OpenAnnotations | null,
  { shapesToKeep, onKept, calibration }: AnnotationsProps,
): void {
  const keep = useEffectEvent((store: OpenAnnotations['store']) => {
    const features = featuresOfShapes(shapesToKeep, calibration);
    store.change(features.map((feature) => ({ id: feature.id, feature })));
    onKept();
  });
  useEffect(() => {
    if (openAnnotations !== null && shapesToKeep.length > 0) keep(openAnnotations.store);
  }, [openAnnotations, shapesToKeep]);
}

/** Sends pointer events to the chosen tool while the drawing mode is on. */
function usePointer(
  view: SlideView,
  { store, session, hits }: OpenAnnotations,
  tool: Tool,
  isPanning: () => boolean,
): RefObject<AnnotationPointer | null> {
  const pointer = useRef<AnnotationPointer | null>(null);
  useEffect(() => {
    if (tool === 'brush') warmBrush();
    const cursor = cursorOf(tool);
    pointer.current = new AnnotationPointer({ view, store, session, hits, isPanning, cursor });
    view.setPointerTool(pointer.current);
    return () => {
      view.setPointerTool(null);
      session.setPointer(null);
    };
  }, [view, store, session, hits, isPanning, tool]);
  return pointer;
}

/** Returns a CSS cursor; the brush draws its own circle instead. */
function cursorOf(tool: Tool): string {
  if (tool === 'move') return 'default';
  return tool === 'brush' ? 'none' : 'crosshair';
}

/** Returns a function that tells whether the space bar is held: dragging then moves the slide with every tool. */
function useSpaceHeld(): () => boolean {
  const isHeld = useRef(false);
  useEffect(() => {
    const updateHeld = (event: KeyboardEvent) => {
      if (event.key === ' ') isHeld.current = event.type === 'keydown';
    };
    document.addEventListener('keydown', updateHeld);
    document.addEventListener('keyup', updateHeld);
    return () => {
      document.removeEventListener('keydown', updateHeld);
      document.removeEventListener('keyup', updateHeld);
    };
  }, []);
  // State holds the function, so that it stays the same.
  const [isSpaceHeld] = useState(() => () => isHeld.current);
  return isSpaceHeld;
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
