/** Saves pictures of the visible field (the part of a slide in the viewer), for the toolbar. */
import { useEffectEvent } from 'react';
import { toast } from 'react-toastify';
import { saveFile } from '../browser/save-file.ts';
import { changesOf, isAsScanned } from './colours/adjustment.ts';
import type { SlideColours } from './colours/use-colours.ts';
import { objectivesOf, uncalibratedZooms } from './objectives.ts';
import { figuresOf } from './overlay/figures.ts';
import type { useDrawing } from './overlay/use-drawing.ts';
import type { Incompleteness } from './PictureNotes.tsx';
import type { PictureRequest } from './ScreenshotPanel.tsx';
import { type Calibration, magnificationLabel, scaleBarOf } from './scale.ts';
import { captureSizeOf } from './screenshot/capture.ts';
import { type Decorations, screenshotName, takeCapture, takeScreenshot } from './screenshot.ts';
import type { Pose, SlideView } from './slide-view.ts';
import { texts } from './texts.ts';

/** Maximum width of the scale bar on a screenshot, in CSS pixels. */
const screenshotBarWidth = 200;

/** The slide and the settings of the view that the pictures show. */
interface PicturedSlide {
  readonly view: SlideView;
  readonly pose: Pose; // zoom and orientation
  /** Name of the slide. */
  readonly name: string;
  readonly calibration: Calibration | null; // null for a slide without a scale
  readonly colours: SlideColours;
  /** Why the view is not sharp; null while it is sharp. */
  readonly incomplete: Incompleteness | null;
}

/**
 * Returns `screenshot`, which saves the visible field as it is on the screen, and `pictures`, the props of the panel that saves
 * the field at another magnification.
 *
 * @param drawing the measurements and marks, which are drawn over the pictures
 * @param announce called with a text that screen readers read out; a toast reports failures
 */
export function usePictures(
  { view, pose, name, calibration, colours, incomplete }: PicturedSlide,
  drawing: ReturnType<typeof useDrawing>['drawing'],
  announce: (text: string) => void,
) {
  const magnification =
    calibration === null ? texts.percent(pose.zoom) : magnificationLabel(calibration, pose.zoom);
  /**
   * Returns the decorations that are drawn over the slide in a picture; null before the slide is open.
   *
   * @param pictureMagnification label of the magnification, for the caption
   */
  const decorationsWith = (pictureMagnification: string): Decorations | null => {
    const placement = view.placement();
    if (placement === null) return null;
    return {
      overlays: view.overlays(),
      figures: figuresOf(drawing, placement, calibration),
      scaleBar: calibration === null ? null : scaleBarOf(calibration, pose, screenshotBarWidth),
      caption: [name, pictureMagnification, ...scaleNotesOf(calibration)].join('   '),
      notes: notesOf(incomplete, colours),
    };
  };
  const takePicture = useEffectEvent(async () => {
    const picture = view.picture();
    const decorations = decorationsWith(magnification);
    if (picture === null || decorations === null) return;
    const blob = await takeScreenshot({ picture, colours: colours.adjustment, ...decorations });
    saveFile(blob, screenshotName(name, magnification));
    announce(texts.screenshotTaken);
  });
  const screenshot = () => {
    takePicture().catch(() => toast.error(texts.screenshotFailed));
  };
  const savePicture = useEffectEvent(async ({ label, ratio, type, signal, onProgress }: PictureRequest) => {
    // The first choice of the panel is labelled 'As on the screen'; the picture states the magnification instead.
    const pictureMagnification = label === texts.onScreen ? magnification : label;
    const strips = view.capture(ratio, signal); // the slide at the new magnification, drawn strip by strip
    const decorations = decorationsWith(pictureMagnification);
    if (strips === null || decorations === null) return;
    try {
      const size = captureSizeOf({ size: view.size(), ratio });
      const blob = await takeCapture({ ...decorations, ...size, strips, ratio, type, onProgress });
      saveFile(blob, screenshotName(name, pictureMagnification, type));
      announce(texts.screenshotTaken);
    } catch {
      if (!signal.aborted) toast.error(texts.screenshotFailed);
    }
  });
  const zoomChoices =
    calibration === null
      ? uncalibratedZooms.map((zoom) => ({ label: texts.percent(zoom), zoom }))
      : objectivesOf(calibration).map(({ zoom }) => ({ label: magnificationLabel(calibration, zoom), zoom }));
  const pictures = {
    size: view.size(),
    // Zooms above 1 enlarge the scan and would not show more detail.
    choices: zoomChoices
      .filter(({ zoom }) => zoom <= 1)
      .map(({ label, zoom }) => ({ label, ratio: zoom / pose.zoom })),
    onSave: (request: PictureRequest) => savePicture(request),
  };
  return { screenshot, pictures };
}

/** Returns the notes without which the picture could mislead: missing tiles, and how its colours were changed. */
function notesOf(
  incomplete: Incompleteness | null,
  { profile, isCorrected, missingTable, adjustment }: SlideColours,
): string[] {
  const hasTable = profile !== null && profile.tableSize !== null;
  // `isCorrected` says what the user has chosen; while the colour table is missing, the colours are still as scanned.
  const areCorrected = isCorrected && missingTable === null;
  return [
    ...(incomplete === null ? [] : [texts.incomplete[incomplete]]),
    ...(hasTable ? [areCorrected ? texts.coloursCorrected : texts.coloursScanned] : []),
    ...(isAsScanned(adjustment) ? [] : [texts.coloursChanged]),
    ...(adjustment.white === null ? [] : [texts.whiteBalance]),
    ...changesOf(adjustment).map(([name, value]) => `${texts.adjustments[name]} ${texts.percent(value)}`),
  ];
}

/** Returns the notes about the scale: that the slide has none, or that an administrator entered it. */
function scaleNotesOf(calibration: Calibration | null): readonly string[] {
  if (calibration === null) return [texts.notCalibrated];
  return calibration.isEntered ? [texts.scaleEntered] : [];
}
