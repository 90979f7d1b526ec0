import { may, type User } from '@lamina/contract';
import { CloseButton, VisuallyHidden } from '@mantine/core';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { loadAnnotationLayers, useAnnotationClasses } from '../../api/annotations.ts';
import { languageNow } from '../../language/language.ts';
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
  readonly dataset: string | null;
  readonly user: User;
  readonly calibration: Calibration | null;
  readonly isDrawing: boolean;
  readonly onDone: () => void;
  /** Where the palette and the state are shown, above the scale. */
  readonly foot: HTMLElement | null;
  readonly areAllToolsShown: boolean;
  readonly onToggleAllTools: () => void;
  /** Measurements that become annotations as soon as the annotations are open. */
  readonly kept: readonly Shape[];
  readonly onKept: () => void;
  /** Called with the annotations when they are open, and with null when they are closed; always the same function. */
  readonly onOpen: (store: AnnotationStore | null) => void;
}

/** The annotations of a slide, and their drawing. Its code is loaded when it is needed. */
export function Annotations(props: AnnotationsProps) {
  const { view, imageId, user, calibration, isDrawing, onOpen } = props;
  const open = useAnnotations(imageId, user.uid);
  useEffect(() => {
    onOpen(open?.store ?? null);
    return () => onOpen(null);
  }, [open, onOpen]);
  useKept(open, props);
  if (open === null) return null;
  return (
    <>
      <AnnotationCanvas view={view} open={open} calibration={calibration} isDrawing={isDrawing} />
      {isDrawing && <Drawing {...props} open={open} />}
      <ConflictDialog open={open} />
    </>
  );
}

interface DrawingProps extends AnnotationsProps {
  readonly open: OpenAnnotations;
}

/** The drawing mode: tools, palette, list and keys. */
function Drawing({ view, open, dataset, user, calibration, foot, onDone, ...props }: DrawingProps) {
  const { store, session } = open;
  const tool = useSessionValue(session, (of) => of.tool);
  const mayDrawHere = useStoreValue(store, (of) => of.canDrawOn(of.activeLayerId));
  const isNoneSelected = useStoreValue(store, ({ selection }) => selection.size === 0);
  const mayDraw = may(user, 'annotations.write');
  const [isListOpen, setListOpen] = useState(
    () => !mayDraw || !window.matchMedia('(max-width: 48em)').matches,
  );
  const [news, setNews] = useState('');
  const actions = useAnnotationActions(open, view, setNews);
  const offered = useAnnotationClasses(dataset);
  const isPanning = useSpaceHeld();
  const pointer = usePointer(view, open, tool, isPanning);

  const addAtCentre = () => {
    const placement = view.placement();
    if (placement === null) return;
    if (session.tool === 'wand') {
      pointer.current?.wandAt(view.centre(), { alt: false, shift: false });
      return;
    }
    const { x, y } = toImage(placement, view.centre());
    const last = session.draft?.kind === 'path' ? session.draft.fixed.at(-1) : undefined;
    // A second point at the same place completes the shape.
    if (last !== undefined && Math.hypot(last[0] - x, last[1] - y) < 1) session.finish();
    else session.addPoint([x, y]);
  };
  const end = () => {
    session.choose('move');
    store.select([]);
    onDone();
  };
  const keys: DrawingKeys = {
    Escape: () => session.cancel(),
    ...(!isNoneSelected && { 'mod+c': actions.copy }),
    d: end,
    ...(mayDraw && {
      ...Object.fromEntries(tools.map((tool) => [toolKeys[tool].toLowerCase(), () => session.choose(tool)])),
      0: () => session.classify(null),
      ...Object.fromEntries(
        offered.flatMap((each) =>
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
      () => undefined, // the message stays
    );
  };
  const discard = () => {
    loadAnnotationLayers(store.imageId).then(
      (layers) => store.discard(layers, user.uid),
      () => undefined, // the message stays
    );
  };

  return (
    <>
      <AnnotationTools
        open={open}
        actions={actions}
        mayDraw={mayDraw}
        isListOpen={isListOpen}
        onToggleList={() => setListOpen(!isListOpen)}
        areAllShown={props.areAllToolsShown}
        onToggleAll={props.onToggleAllTools}
        onDone={end}
      />
      {isListOpen && (
        <section className={classes.panel} aria-label={texts.annotations} lang={languageNow('en')}>
          <div className={classes.panelHead}>
            {texts.annotations}
            <CloseButton size="sm" aria-label={texts.hideList} onClick={() => setListOpen(false)} />
          </div>
          <LayerFields open={open} mayDraw={mayDraw} onReload={reload} />
          <AnnotationList open={open} actions={actions} calibration={calibration} />
          <AnnotationDetails open={open} offered={offered} />
        </section>
      )}
      {foot !== null &&
        createPortal(
          <div className={classes.bar}>
            {mayDraw && <p className={classes.note}>{mayDrawHere ? texts.hint[tool] : texts.readOnly}</p>}
            {mayDraw && <SaveStateNote open={open} onDiscard={discard} />}
            {mayDraw && <ClassPalette open={open} classes={offered} />}
          </div>,
          foot,
        )}
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
    </>
  );
}

/** Turns measurements into annotations, once. */
function useKept(open: OpenAnnotations | null, { kept, onKept, calibration }: AnnotationsProps): void {
  const keep = useEffectEvent((store: OpenAnnotations['store']) => {
    const features = featuresOfShapes(kept, calibration);
    store.change(features.map((feature) => ({ id: feature.id, feature })));
    onKept();
  });
  useEffect(() => {
    if (open !== null && kept.length > 0) keep(open.store);
  }, [open, kept]);
}

/** The pointer draws, selects and edits while the mode is on. */
function usePointer(
  view: SlideView,
  { store, session, hits }: OpenAnnotations,
  tool: Tool,
  isPanning: () => boolean,
): RefObject<AnnotationPointer | null> {
  const current = useRef<AnnotationPointer | null>(null);
  useEffect(() => {
    if (tool === 'brush') warmBrush();
    const cursor = tool === 'move' ? 'default' : tool === 'brush' ? 'none' : 'crosshair';
    current.current = new AnnotationPointer({ view, store, session, hits, isPanning, cursor });
    view.lendPointer(current.current);
    return () => {
      view.lendPointer(null);
      session.setPointer(null);
    };
  }, [view, store, session, hits, isPanning, tool]);
  return current;
}

/** Whether the space bar is held: dragging then moves the slide with every tool. */
function useSpaceHeld(): () => boolean {
  const isHeld = useRef(false);
  useEffect(() => {
    const follow = (event: KeyboardEvent) => {
      if (event.key === ' ') isHeld.current = event.type === 'keydown';
    };
    document.addEventListener('keydown', follow);
    document.addEventListener('keyup', follow);
    return () => {
      document.removeEventListener('keydown', follow);
      document.removeEventListener('keyup', follow);
    };
  }, []);
  const [read] = useState(() => () => isHeld.current);
  return read;
}

/** Pasted GeoJSON becomes annotations. */
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
