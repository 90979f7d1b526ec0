import { Button } from '@mantine/core';
import { isSameZoom, objectivesOf, uncalibratedZooms } from './objectives.ts';
import classes from './SlideViewer.module.css';
import type { Calibration } from './scale.ts';
import type { Pose } from './slide-view.ts';
import { texts } from './texts.ts';

interface ObjectivesProps {
  /** Null when the scale of the slide is unknown: the buttons then show percentages of the full resolution. */
  readonly calibration: Calibration | null;
  /** Current and maximum zoom of the view. */
  readonly pose: Pose;
  /** Shows the whole slide. */
  readonly onFit: () => void;
  /** @param zoom CSS pixels per image pixel at full resolution */
  readonly onZoomTo: (zoom: number) => void;
}

/** Buttons that zoom to the magnifications of a microscope's objectives. */
export function Objectives({ calibration, pose, onFit, onZoomTo }: ObjectivesProps) {
  // A zoom stays available if it exceeds the maximum by less than the tolerance of `isSameZoom`.
  const isTooStrong = (zoom: number) => zoom > pose.maxZoom && !isSameZoom(zoom, pose.maxZoom);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div className={classes.objectives} role="group" aria-label={texts.objectives}>
      <Button size="compact-sm" variant="default" title={texts.fitHint} onClick={onFit}>
        {texts.fit}
      </Button>
      {calibration === null &&
        uncalibratedZooms.map((zoom) => (
          <Button
            key={zoom}
            size="compact-sm"
            variant={isSameZoom(pose.zoom, zoom) ? 'filled' : 'default'}
            aria-pressed={isSameZoom(pose.zoom, zoom)}
            disabled={isTooStrong(zoom)}
            onClick={() => onZoomTo(zoom)}
          >
            {texts.percent(zoom)}
          </Button>
        ))}
      {(calibration === null ? [] : objectivesOf(calibration)).map(({ power, zoom, isDigital }) => {
        const isCurrent = isSameZoom(pose.zoom, zoom);
        return (
          <Button
            key={power}
            size="compact-sm"
            variant={isCurrent ? 'filled' : 'default'}
            aria-pressed={isCurrent}
            {...(isDigital && {
              'aria-label': `${texts.power(power)} ${texts.digital}`,
              title: texts.digitalHint, // the zoom exceeds the resolution of the scan
              'data-digital': true, // read by the style sheet
            })}
            disabled={isTooStrong(zoom)}
            onClick={() => onZoomTo(zoom)}
          >
            {texts.power(power)}
          </Button>
        );
      })}
    </div>
  );
}
