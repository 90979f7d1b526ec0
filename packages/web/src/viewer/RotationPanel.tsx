import { NumberInput, Slider } from '@mantine/core';
import { useRef } from 'react';
import { useEscape } from '../browser/use-escape.ts';
import { withinFullTurn } from './full-turn.ts';
import toolPanel from './ToolPanel.module.css';
import { texts } from './texts.ts';

interface RotationPanelProps {
  /** In degrees clockwise on the screen, from 0 (inclusive) to 360 (exclusive). */
  readonly rotation: number;
  /** @param degrees 0 to 359, clockwise on the screen */
  readonly onRotateTo: (degrees: number) => void;
  /** Called when Esc is pressed. */
  readonly onClose: () => void;
}

/** A panel that sets the rotation of the slide to any whole degree, by a slider or as a number. */
export function RotationPanel({ rotation, onRotateTo, onClose }: RotationPanelProps) {
  const degrees = Math.round(rotation) % 360; // 359.6° rounds to 360°, which is 0°
  const section = useRef<HTMLElement>(null);
  useEscape(section, onClose);
  return (
    <section ref={section} className={toolPanel.panel} aria-label={texts.rotationAngle}>
      <NumberInput
        size="sm"
        label={texts.rotationAngle}
        suffix="°"
        min={-360} // a negative angle turns counterclockwise
        max={360}
        step={1}
        allowDecimal={false}
        value={degrees}
        // `value` is a string while the field is empty or incomplete.
        onChange={(value) => typeof value === 'number' && onRotateTo(withinFullTurn(value))}
      />
      <Slider
        size="sm"
        min={0}
        max={359}
        value={degrees}
        onChange={onRotateTo}
        label={null} // no bubble with the value above the thumb
        thumbLabel={texts.rotationAngle}
        thumbProps={{ 'aria-valuetext': `${degrees}°` }}
        marks={[{ value: 90 }, { value: 180 }, { value: 270 }]}
      />
    </section>
  );
}
