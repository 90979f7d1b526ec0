import { Button } from '@mantine/core';
import { isSameZoom, objectivesOf } from './objectives.ts';
import classes from './SlideViewer.module.css';
import type { Calibration } from './scale.ts';
import type { Pose } from './slide-view.ts';
import { texts } from './texts.ts';

interface ObjectivesProps {
  /** Null when the slide does not know its own scale: then there is nothing but the whole slide. */
  readonly calibration: Calibration | null;
  readonly pose: Pose;
  readonly onFit: () => void;
  readonly onZoomTo: (zoom: number) => void;
}

/** The steps of a microscope's nosepiece. */
export function Objectives({ calibration, pose, onFit, onZoomTo }: ObjectivesProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is sent with a form
    <div className={classes.objectives} role="group" aria-label={texts.objectives}>
      <Button size="compact-sm" variant="default" title={texts.fitHint} onClick={onFit}>
        {texts.fit}
      </Button>
      {(calibration === null ? [] : objectivesOf(calibration)).map(({ power, zoom, isDigital }) => {
        const isTaken = isSameZoom(pose.zoom, zoom);
        return (
          <Button
            key={power}
            size="compact-sm"
            variant={isTaken ? 'filled' : 'default'}
            aria-pressed={isTaken}
            {...(isDigital && {
              'aria-label': `${texts.power(power)} ${texts.digital}`,
              title: texts.digitalHint,
              'data-digital': true,
            })}
            disabled={zoom > pose.maxZoom && !isSameZoom(zoom, pose.maxZoom)}
            onClick={() => onZoomTo(zoom)}
          >
            {texts.power(power)}
          </Button>
        );
      })}
    </div>
  );
}
