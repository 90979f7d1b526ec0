import { isDigitalZoom } from './objectives.ts';
import classes from './SlideViewer.module.css';
import { type Calibration, magnificationLabel, scaleBarOf } from './scale.ts';
import { texts } from './texts.ts';

const maxBarWidth = 160;

interface ScaleReadoutProps {
  /** Null when the slide does not know its own scale. */
  readonly calibration: Calibration | null;
  /** Screen pixels per image pixel. */
  readonly zoom: number;
}

/** How large what is seen is; where nobody knows, how large its pixels are. */
export function ScaleReadout({ calibration, zoom }: ScaleReadoutProps) {
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
        <ScaleBar calibration={calibration} zoom={zoom} />
      )}
      {calibration?.derived === 'mpp' && <span title={texts.estimatedHint}>{texts.estimated}</span>}
    </div>
  );
}

function ScaleBar({ calibration, zoom }: { readonly calibration: Calibration; readonly zoom: number }) {
  const bar = scaleBarOf(calibration, zoom, maxBarWidth);
  return (
    <span className={classes.scaleBar} style={{ width: bar.width }} title={texts.scaleBar}>
      {bar.label}
    </span>
  );
}
