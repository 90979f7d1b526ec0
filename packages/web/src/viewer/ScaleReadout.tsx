import { isDigitalZoom } from './objectives.ts';
import classes from './SlideViewer.module.css';
import { type Calibration, magnificationLabel, scaleBarOf } from './scale.ts';
import { type ShownPlane, shownPlaneText } from './shown-plane.ts';
import { texts } from './texts.ts';

/** Maximum width of the scale bar in CSS pixels. */
const maxBarWidth = 160;

interface ScaleReadoutProps {
  /** Null for a slide without a scale. */
  readonly calibration: Calibration | null;
  /** CSS pixels per image pixel at full resolution. */
  readonly zoom: number;
  /** In degrees clockwise on the screen, from 0 (inclusive) to 360 (exclusive); shown unless 0. */
  readonly rotation: number;
  /** The shown focal plane and time point; null for a file with one of each. */
  readonly shownPlane: ShownPlane | null;
}

/**
 * Shows the magnification and a scale bar, or the zoom in percent for a slide without a scale, and the angle of a rotated slide.
 * Notes mark digital zoom (beyond the resolution of the scan), an estimated scale, a scale that an administrator has entered, and the
 * shown focal plane and time point.
 */
export function ScaleReadout({ calibration, zoom, rotation, shownPlane }: ScaleReadoutProps) {
  const isPixelSizeEstimated = calibration?.derived === 'mpp'; // the server has calculated µm per pixel from the magnification
  const degrees = Math.round(rotation) % 360; // 359.6° rounds to 360°, which is 0°
  return (
    <div className={classes.scale}>
      <span
        className={classes.magnification}
        title={calibration?.derived === 'objectivePower' ? texts.powerEstimatedHint : texts.magnification}
      >
        {calibration === null ? texts.percent(zoom) : magnificationLabel(calibration, zoom)}
      </span>
      {isDigitalZoom(zoom) && (
        <span className={classes.digital} title={texts.digitalHint}>
          {texts.digital}
        </span>
      )}
      {calibration === null ? (
        <span title={texts.notCalibratedHint}>{texts.notCalibrated}</span>
      ) : (
        <ScaleBar calibration={calibration} zoom={zoom} rotation={rotation} />
      )}
      {degrees !== 0 && <span title={texts.rotationAngle}>{degrees}°</span>}
      {isPixelSizeEstimated && !calibration.isEntered && (
        <span title={texts.estimatedHint}>{texts.estimated}</span>
      )}
      {calibration?.isEntered && <span title={texts.scaleEnteredHint}>{texts.scaleEntered}</span>}
      {shownPlane !== null && <span title={texts.shownPlaneHint}>{shownPlaneText(shownPlane)}</span>}
    </div>
  );
}

interface ScaleBarProps {
  readonly calibration: Calibration;
  readonly zoom: number;
  readonly rotation: number;
}

function ScaleBar({ calibration, ...pose }: ScaleBarProps) {
  const bar = scaleBarOf(calibration, pose, maxBarWidth);
  return (
    <span className={classes.scaleBar} style={{ width: bar.width }} title={texts.scaleBar}>
      {bar.label}
    </span>
  );
}
