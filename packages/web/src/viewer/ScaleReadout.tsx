import classes from './SlideViewer.module.css';
import { calibrationOf, magnificationLabel, type SlideScale, scaleBarOf } from './scale.ts';
import { texts } from './texts.ts';

const maxBarWidth = 160;

interface ScaleReadoutProps {
  readonly scale: SlideScale;
  /** Screen pixels per image pixel; null while nothing is shown. */
  readonly zoom: number | null;
}

/** How large what is seen is. Nothing, when the slide does not know its own scale. */
export function ScaleReadout({ scale, zoom }: ScaleReadoutProps) {
  const calibration = calibrationOf(scale);
  if (calibration === null || zoom === null) return null;
  const bar = scaleBarOf(calibration, zoom, maxBarWidth);
  return (
    <div className={classes.scale}>
      <span title={texts.magnification}>{magnificationLabel(calibration, zoom)}</span>
      <span className={classes.scaleBar} style={{ width: bar.width }} title={texts.scaleBar}>
        {bar.label}
      </span>
    </div>
  );
}
