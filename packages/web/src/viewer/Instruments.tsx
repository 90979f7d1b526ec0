/** Everything over an open slide except warnings: toolbars, measurements, annotations, result layers, scale and shortcuts. */
import { may, type ResultLayer } from '@lamina/contract';
import { VisuallyHidden } from '@mantine/core';
import { memo, useEffect, useMemo, useState } from 'react';
import { toast } from 'react-toastify';
import { useAuth } from '../api/auth-state.ts';
import { useResultLayers } from '../api/results.ts';
import { copyText } from '../browser/copy-text.ts';
import { AnnotationsGate } from './annotations/AnnotationsGate.tsx';
import type { AnnotationStore } from './annotations/annotation-store.ts';
import type { SlideColours } from './colours/use-colours.ts';
import { useWhiteBalance } from './colours/use-white-balance.ts';
import { KeyboardHelp } from './KeyboardHelp.tsx';
import { Objectives } from './Objectives.tsx';
import { objectivesOf, uncalibratedZooms } from './objectives.ts';
import { Drawings } from './overlay/Drawings.tsx';
import { countingCircleRadii, type Shape, type ShapeKind } from './overlay/shapes.ts';
import { useDrawing } from './overlay/use-drawing.ts';
import type { Incompleteness } from './PictureNotes.tsx';
import { ResultsGate } from './results/ResultsGate.tsx';
import { ScaleReadout } from './ScaleReadout.tsx';
import { SlideControls } from './SlideControls.tsx';
import { SlideTools } from './SlideTools.tsx';
import classes from './SlideViewer.module.css';
import { type Calibration, magnificationLabel } from './scale.ts';
import type { ShownPlane } from './shown-plane.ts';
import type { Pose, SlideView } from './slide-view.ts';
import { ToolHint } from './ToolHint.tsx';
import { texts } from './texts.ts';
import { useKeys } from './use-keys.ts';
import { usePictures } from './use-pictures.ts';
import type { AnnotatedSlide } from './viewed-slide.ts';

// Degrees of one turn: `quarterTurn` for the rotation buttons and the key R, `smallTurn` for the keys [ and ].
const quarterTurn = 90;
const smallTurn = 5;
/** Movement per arrow key, as a fraction of the view's width or height. */
const keyStep = 0.15;
// Empty values that are the same object in each rendering, so that React does not treat them as changed.
const noKeys = {};
const noShapes: readonly Shape[] = [];
const noResults: readonly ResultLayer[] = [];
/** Choosing the counting circle (1 mm²) zooms out until its diameter is at most this fraction of the view's sides. */
const maxCircleFraction = 0.9;
/** How long the copy button shows that the link is copied. */
const copiedMs = 2000;

interface InstrumentsProps {
  readonly view: SlideView;
  /** Current zoom, rotation and mirroring of the view. */
  readonly pose: Pose;
  /** Name of the slide, which saved pictures show. */
  readonly name: string;
  /** The image whose annotations and result layers are shown; null when the page shows none. */
  readonly annotatedSlide: AnnotatedSlide | null;
  /** The scale of the slide: its pixel size and magnification; null when they are unknown. */
  readonly calibration: Calibration | null;
  /** The shown focal plane and time point; null for a file with one of each. */
  readonly shownPlane: ShownPlane | null;
  readonly isFullPage: boolean;
  readonly onToggleFullPage: () => void;
  readonly colours: SlideColours;
  /** Reason why the view is not sharp; null while it is sharp. */
  readonly incomplete: Incompleteness | null;
  /** Whether the user works on this slide: it then shows its tools and handles the keyboard shortcuts of the page. */
  readonly handlesKeys: boolean;
}

/**
 * Renders the controls of an open slide, its measurements, annotations and result layers (results of programs, such as detected
 * cells), and the readouts of scale and magnification. It is memoised, because each loaded tile renders `SlideViewer` again.
 */
// oxlint-disable-next-line lamina/max-own-lines -- hooks of one toolbar, which share the state of the open panel
export const Instruments = memo(function Instruments(props: InstrumentsProps) {
  const { view, pose, annotatedSlide, calibration, isFullPage, onToggleFullPage, colours, handlesKeys } =
    props;
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [areColoursOpen, setColoursOpen] = useState(false);
  const [isRotationOpen, setRotationOpen] = useState(false);
  const [arePicturesOpen, setPicturesOpen] = useState(false);
  const [areResultsOpen, setResultsOpen] = useState(false);
  const resultsQuery = useResultLayers(annotatedSlide?.imageId ?? null);
  /** Stays true while the request is repeated, so that the message does not come and go. */
  const haveResultsFailed = resultsQuery.data === undefined && resultsQuery.errorUpdateCount > 0;
  const results = resultsQuery.data ?? noResults;
  /** Whether a phone shows all tools; it hides most of them at first. */
  const [areAllToolsShown, setAllToolsShown] = useState(false);
  const [isLinkCopied, setLinkCopied] = useState(false);
  /** Whether the drawing mode is on: the user draws annotations, which the server stores, instead of measurements. */
  const [isAnnotating, setAnnotating] = useState(false);
  /** Measurements that the user has chosen to keep. */
  const [keptShapes, setKeptShapes] = useState<readonly Shape[]>(noShapes);
  /** The annotations of the slide; null until they are loaded. The result layers count objects inside them. */
  const [annotations, setAnnotations] = useState<AnnotationStore | null>(null);
  /** Element above the scale readout for the palette and notes of the drawing mode; null before the first render. */
  const [foot, setFoot] = useState<HTMLElement | null>(null);
  /** Text that screen readers read out after a change on the screen. */
  const [announcement, announce] = useState('');

  /** `drawing`: the measurements (not the annotations), the chosen measuring tool and its placed points; `dispatch` changes them. */
  const { drawing, dispatch, placePointAtCentre } = useDrawing(view, calibration, announce);
  const hasMeasurements = drawing.shapes.length > 0 || drawing.placedPoints.length > 0;
  /** Measurements to convert into annotations as soon as the annotations are loaded, without those that the user has removed since. */
  const shapesToKeep = useMemo(
    () => keptShapes.filter((shape) => drawing.shapes.includes(shape)),
    [keptShapes, drawing.shapes],
  );

  const { user } = useAuth();
  /** The right to write annotations is also the right to add result layers. */
  const mayAnnotate = annotatedSlide !== null && user !== null && may(user, 'annotations.write');
  const areResultsOffered = results.length > 0 || haveResultsFailed || mayAnnotate;
  /** Removes the measurements that have become annotations. They stay until then, because the code of annotations may fail to load. */
  const removeKept = () => {
    dispatch({ type: 'remove', removed: shapesToKeep });
    setKeptShapes(noShapes);
    announce(texts.measurementsKept);
  };

  const whiteBalance = useWhiteBalance(view, colours, announce);

  // `view.rotate` turns as seen on the screen; the angle of a mirrored slide changes in the opposite direction.
  const rotate = (degrees: number) => {
    view.rotate(degrees);
    // Adding 360° keeps the angle positive; `texts.rotated` reduces it to less than 360°.
    const newRotation = pose.rotation + (pose.isMirrored ? -degrees : degrees) + 360;
    announce(texts.rotated(newRotation));
  };
  const rotateTo = (degrees: number) => {
    const difference = degrees - pose.rotation;
    rotate(pose.isMirrored ? -difference : difference);
  };
  const toggleAnnotating = () => {
    whiteBalance.setPicking(false);
    // Choosing the tool that is already chosen deselects it.
    if (drawing.tool !== null) dispatch({ type: 'choose-tool', tool: drawing.tool });
    setAnnotating(!isAnnotating);
    setAllToolsShown(false);
  };
  const chooseTool = (tool: ShapeKind) => {
    whiteBalance.setPicking(false);
    if (tool === 'circle' && drawing.tool !== 'circle' && calibration !== null) {
      const { rx, ry } = countingCircleRadii(calibration); // in image pixels
      const { width, height } = view.size();
      const fittingZoom = maxCircleFraction * Math.min(width / (2 * rx), height / (2 * ry));
      if (pose.zoom > fittingZoom) actions.zoomTo(fittingZoom);
    }
    dispatch({ type: 'choose-tool', tool });
  };
  const actions = {
    rotateLeft: () => rotate(-quarterTurn),
    rotateRight: () => rotate(quarterTurn),
    resetRotation: () => {
      view.resetRotation();
      announce(texts.upright);
    },
    mirror: () => {
      view.mirror();
      announce(pose.isMirrored ? texts.notMirrored : texts.mirrored);
    },
    goHome: () => {
      view.goHome();
      announce(texts.fitHint);
    },
    zoomTo: (zoom: number) => {
      view.zoomTo(zoom);
      announce(calibration === null ? '' : magnificationLabel(calibration, zoom));
    },
  };

  /** `saveScreenshot` saves the view as it is on the screen; `picturePanel` holds the props of the panel for other magnifications. */
  const { screenshot: saveScreenshot, pictures: picturePanel } = usePictures(props, drawing, announce);

  useEffect(() => {
    if (!isLinkCopied) return;
    const timer = setTimeout(() => setLinkCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isLinkCopied]);
  const copyLink = async () => {
    const isCopied = await copyText(location.href);
    setLinkCopied(isCopied);
    if (isCopied) announce(texts.linkCopied);
    else toast.error(texts.linkNotCopied);
  };

  const closePanels = () => {
    setColoursOpen(false);
    setRotationOpen(false);
    setPicturesOpen(false);
    setResultsOpen(false);
    whiteBalance.setPicking(false);
  };

  /** Undoes what the current press has drawn; if the pointer is not pressed, discards the unfinished measurement or deselects the tool. */
  const cancelMeasuring = () => {
    if (!view.cancelPress()) dispatch({ type: 'cancel' });
  };

  /** The zooms of the keys 1, 2, … */
  const zooms = calibration === null ? uncalibratedZooms : objectivesOf(calibration).map(({ zoom }) => zoom);
  const measuringKeys = {
    m: () => chooseTool('ruler'),
    a: () => chooseTool('area'),
    ...(calibration !== null && { c: () => chooseTool('circle') }),
    k: () => chooseTool('mark'),
    ...(drawing.tool !== null && { Enter: placePointAtCentre, Escape: cancelMeasuring }),
    ...(hasMeasurements && {
      Backspace: () => dispatch({ type: 'undo' }),
      Delete: () => dispatch({ type: 'undo' }),
    }),
  };
  const keys = {
    ArrowLeft: () => view.moveBy(-keyStep, 0),
    ArrowRight: () => view.moveBy(keyStep, 0),
    ArrowUp: () => view.moveBy(0, -keyStep),
    ArrowDown: () => view.moveBy(0, keyStep),
    '+': view.zoomIn,
    '=': view.zoomIn, // the plus key of an English keyboard, without Shift
    '-': view.zoomOut,
    0: actions.goHome,
    h: actions.goHome,
    Home: actions.goHome,
    ...Object.fromEntries(zooms.map((zoom, index) => [`${index + 1}`, () => actions.zoomTo(zoom)])),
    r: actions.rotateRight,
    'shift+r': actions.rotateLeft,
    ']': () => rotate(smallTurn),
    '[': () => rotate(-smallTurn),
    f: actions.mirror,
    ...((areColoursOpen || isRotationOpen || arePicturesOpen || areResultsOpen) && { Escape: closePanels }),
    ...(!isAnnotating && measuringKeys), // while a measuring tool is chosen, its Escape replaces the one that closes panels
    ...(annotatedSlide !== null && { d: toggleAnnotating }),
    b: () => setColoursOpen(!areColoursOpen),
    s: saveScreenshot,
    'shift+s': () => setPicturesOpen(!arePicturesOpen),
    l: () => void copyLink(),
    '?': () => setHelpOpen(true),
  };
  useKeys(handlesKeys ? keys : noKeys);

  return (
    <>
      {(hasMeasurements || drawing.tool !== null) && (
        <Drawings view={view} drawing={drawing} calibration={calibration} dispatch={dispatch} />
      )}
      {drawing.tool !== null && <span className={classes.crosshair} aria-hidden="true" />}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields */}
      <div
        className={classes.instruments}
        role="group"
        aria-label={texts.instruments}
        data-all-tools={areAllToolsShown || undefined} // read by the style sheet
      >
        {handlesKeys && (
          <>
            <SlideControls
              isFullPage={isFullPage}
              pose={pose}
              isAnnotating={isAnnotating}
              isRotationOpen={isRotationOpen}
              onToggleRotation={() => setRotationOpen(!isRotationOpen)}
              onZoomIn={view.zoomIn}
              onZoomOut={view.zoomOut}
              onGoHome={actions.goHome}
              onToggleFullPage={onToggleFullPage}
              onRotateLeft={actions.rotateLeft}
              onRotateRight={actions.rotateRight}
              onRotateTo={rotateTo}
              onResetRotation={actions.resetRotation}
              onMirror={actions.mirror}
              onHelp={() => setHelpOpen(true)}
            />
            {!isAnnotating && (
              <SlideTools
                drawing={drawing}
                isCalibrated={calibration !== null}
                onChooseTool={chooseTool}
                onUndo={() => dispatch({ type: 'undo' })}
                onClear={() => dispatch({ type: 'clear' })}
                colours={colours}
                whiteBalance={whiteBalance}
                areColoursOpen={areColoursOpen}
                onToggleColours={() => setColoursOpen(!areColoursOpen)}
                onScreenshot={saveScreenshot}
                pictures={arePicturesOpen ? picturePanel : null}
                onTogglePictures={() => setPicturesOpen(!arePicturesOpen)}
                onCopyLink={() => void copyLink()}
                isLinkCopied={isLinkCopied}
                areAllShown={areAllToolsShown}
                onToggleAll={() => setAllToolsShown(!areAllToolsShown)}
                onKeep={mayAnnotate ? () => setKeptShapes(drawing.shapes) : null}
                onAnnotate={annotatedSlide === null ? null : toggleAnnotating}
                areResultsOpen={areResultsOpen}
                onToggleResults={!areResultsOffered ? null : () => setResultsOpen(!areResultsOpen)}
              />
            )}
          </>
        )}
        {annotatedSlide !== null && areResultsOffered && (
          <ResultsGate
            key={annotatedSlide.imageId}
            view={view}
            imageId={annotatedSlide.imageId}
            layers={haveResultsFailed ? null : results}
            onReload={() => void resultsQuery.refetch()}
            mayAdd={mayAnnotate}
            annotations={annotations}
            isDrawing={isAnnotating} // the panel then leaves room for the drawing tools
            isOpen={areResultsOpen && handlesKeys}
            onClose={() => setResultsOpen(false)}
          />
        )}
        {annotatedSlide !== null && (
          <AnnotationsGate
            view={view}
            {...annotatedSlide} // `imageId`, `dataset` and `format`
            calibration={calibration}
            isDrawing={isAnnotating && handlesKeys} // in a comparison, the user draws only on the active slide
            onDone={toggleAnnotating}
            foot={foot}
            areAllToolsShown={areAllToolsShown}
            onToggleAllTools={() => setAllToolsShown(!areAllToolsShown)}
            shapesToKeep={shapesToKeep}
            onKept={removeKept}
            onOpen={setAnnotations}
          />
        )}
        <div className={classes.foot}>
          <div ref={setFoot} className={classes.footSlot} />
          {drawing.tool !== null && <ToolHint drawing={drawing} />}
          {handlesKeys && !isAnnotating && (
            <Objectives
              calibration={calibration}
              pose={pose}
              onFit={actions.goHome}
              onZoomTo={actions.zoomTo}
            />
          )}
          <ScaleReadout
            calibration={calibration}
            zoom={pose.zoom}
            rotation={pose.rotation}
            shownPlane={props.shownPlane}
          />
        </div>
      </div>
      <VisuallyHidden aria-live="polite">{announcement}</VisuallyHidden>
      <KeyboardHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
});
