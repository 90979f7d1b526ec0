import { VisuallyHidden } from '@mantine/core';
import { memo, useEffect, useEffectEvent, useId, useState } from 'react';
import { saveFile } from '../save-file.ts';
import { type ColourAdjustment, isAsScanned } from './colours/adjustment.ts';
import { ColourFilter } from './colours/ColourFilter.tsx';
import { KeyboardHelp } from './KeyboardHelp.tsx';
import { Objectives } from './Objectives.tsx';
import { objectivesOf } from './objectives.ts';
import { Drawings } from './overlay/Drawings.tsx';
import { figuresOf } from './overlay/figures.ts';
import { useDrawing } from './overlay/use-drawing.ts';
import { ScaleReadout } from './ScaleReadout.tsx';
import { SlideControls } from './SlideControls.tsx';
import { SlideTools } from './SlideTools.tsx';
import classes from './SlideViewer.module.css';
import { type Calibration, magnificationLabel, scaleBarOf } from './scale.ts';
import { screenshotName, takeScreenshot } from './screenshot.ts';
import type { Pose, SlideView } from './slide-view.ts';
import { texts } from './texts.ts';
import { useKeys } from './use-keys.ts';

const quarterTurn = 90;
/** Degrees of one press of a key that turns the slide freely. */
const smallTurn = 5;
/** What an arrow key moves, in parts of what is seen. */
const keyStep = 0.15;
const noKeys = {};
/** Of the scale bar on a screenshot, in CSS pixels. */
const screenshotBarWidth = 200;

interface InstrumentsProps {
  readonly view: SlideView;
  readonly pose: Pose;
  /** The slide's. */
  readonly name: string;
  readonly calibration: Calibration | null;
  readonly isFullPage: boolean;
  readonly onToggleFullPage: () => void;
  readonly colours: ColourAdjustment;
  readonly onColours: (colours: ColourAdjustment) => void;
  /** Whether the keys of the page are meant for it. */
  readonly hasKeys: boolean;
}

/**
 * What moves an opened slide, what is drawn over it, and what tells how it is seen. Remembered: tiles that come are no
 * reason to draw it anew.
 */
export const Instruments = memo(function Instruments(props: InstrumentsProps) {
  const { view, pose, name, calibration, isFullPage, onToggleFullPage, colours, onColours, hasKeys } = props;
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [areColoursOpen, setColoursOpen] = useState(false);
  /** Told to those who do not see what has changed. */
  const [news, setNews] = useState('');

  const { drawing, take, putAtCentre } = useDrawing(view, calibration, setNews);
  const isDrawn = drawing.shapes.length > 0 || drawing.fixed.length > 0;

  // Another slide of the page has colours of its own.
  const colourFilterId = `slide-colours-${useId()}`;
  const isFiltered = !isAsScanned(colours);
  useEffect(
    () => view.filterColours(isFiltered ? `url(#${colourFilterId})` : ''),
    [view, isFiltered, colourFilterId],
  );

  const rotate = (degrees: number) => {
    view.rotate(degrees);
    const turned = pose.rotation + (pose.isMirrored ? -degrees : degrees) + 360;
    setNews(texts.rotated(turned));
  };
  const actions = {
    rotateLeft: () => rotate(-quarterTurn),
    rotateRight: () => rotate(quarterTurn),
    resetRotation: () => {
      view.resetRotation();
      setNews(texts.upright);
    },
    mirror: () => {
      view.mirror();
      setNews(pose.isMirrored ? texts.notMirrored : texts.mirrored);
    },
    goHome: () => {
      view.goHome();
      setNews(texts.fitHint);
    },
    zoomTo: (zoom: number) => {
      view.zoomTo(zoom);
      setNews(calibration === null ? '' : magnificationLabel(calibration, zoom));
    },
  };

  const magnification =
    calibration === null ? texts.percent(pose.zoom) : magnificationLabel(calibration, pose.zoom);
  const takePicture = useEffectEvent(async () => {
    const [canvas, placement] = [view.picture(), view.placement()];
    if (canvas === null || placement === null) return;
    const figures = figuresOf(drawing, placement, calibration);
    const scaleBar = calibration === null ? null : scaleBarOf(calibration, pose.zoom, screenshotBarWidth);
    const caption = `${name}   ${magnification}${calibration === null ? `   ${texts.notCalibrated}` : ''}`;
    saveFile(
      await takeScreenshot({ canvas, colours, figures, scaleBar, caption }),
      screenshotName(name, magnification),
    );
    setNews(texts.screenshotTaken);
  });
  const screenshot = () => {
    takePicture().catch(() => setNews(texts.screenshotFailed));
  };

  const objectives = calibration === null ? [] : objectivesOf(calibration);
  const keys = {
    ArrowLeft: () => view.moveBy(-keyStep, 0),
    ArrowRight: () => view.moveBy(keyStep, 0),
    ArrowUp: () => view.moveBy(0, -keyStep),
    ArrowDown: () => view.moveBy(0, keyStep),
    '+': view.zoomIn,
    '=': view.zoomIn, // the same key without Shift
    '-': view.zoomOut,
    0: actions.goHome,
    h: actions.goHome,
    Home: actions.goHome,
    ...Object.fromEntries(objectives.map(({ zoom }, place) => [`${place + 1}`, () => actions.zoomTo(zoom)])),
    r: actions.rotateRight,
    'shift+r': actions.rotateLeft,
    ']': () => rotate(smallTurn),
    '[': () => rotate(-smallTurn),
    f: actions.mirror,
    m: () => take({ type: 'take', tool: 'ruler' }),
    a: () => take({ type: 'take', tool: 'area' }),
    ...(calibration !== null && { c: () => take({ type: 'take', tool: 'circle' }) }),
    ...(drawing.tool !== null && { Enter: putAtCentre, Escape: () => take({ type: 'cancel' }) }),
    ...(isDrawn && {
      Backspace: () => take({ type: 'undo' }),
      Delete: () => take({ type: 'undo' }),
    }),
    b: () => setColoursOpen(!areColoursOpen),
    s: screenshot,
    '?': () => setHelpOpen(true),
  };
  useKeys(hasKeys ? keys : noKeys);

  return (
    <>
      {isFiltered && <ColourFilter id={colourFilterId} adjustment={colours} />}
      {(isDrawn || drawing.tool !== null) && (
        <Drawings view={view} drawing={drawing} calibration={calibration} />
      )}
      {drawing.tool !== null && <span className={classes.crosshair} aria-hidden="true" />}
      <SlideControls
        isFullPage={isFullPage}
        isRotated={pose.rotation !== 0}
        isMirrored={pose.isMirrored}
        onZoomIn={view.zoomIn}
        onZoomOut={view.zoomOut}
        onGoHome={actions.goHome}
        onToggleFullPage={onToggleFullPage}
        onRotateLeft={actions.rotateLeft}
        onRotateRight={actions.rotateRight}
        onResetRotation={actions.resetRotation}
        onMirror={actions.mirror}
        onHelp={() => setHelpOpen(true)}
      />
      <SlideTools
        drawing={drawing}
        isCalibrated={calibration !== null}
        onDraw={take}
        colours={colours}
        onColours={onColours}
        areColoursOpen={areColoursOpen}
        onToggleColours={() => setColoursOpen(!areColoursOpen)}
        onScreenshot={screenshot}
      />
      <div className={classes.foot}>
        <Objectives calibration={calibration} pose={pose} onFit={actions.goHome} onZoomTo={actions.zoomTo} />
        <ScaleReadout calibration={calibration} zoom={pose.zoom} />
      </div>
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
      <KeyboardHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
});
