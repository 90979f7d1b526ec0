import type { ManagedImage } from '@lamina/contract';
import { Group, Input, TextInput } from '@mantine/core';
import { formatMeasuredValue } from '../../formatting/numbers.ts';
import { texts } from './texts.ts';

/** Significant digits of a scale in a placeholder. */
const placeholderDigits = 4;

interface ScaleFieldsProps {
  readonly slide: ManagedImage;
  /** Entered micrometres per pixel; empty to use the value of the slide file. */
  readonly mpp: string;
  /** Entered objective power (magnification of the objective, such as 40); empty to use the value of the slide file. */
  readonly power: string;
  readonly isInvalid: boolean;
  readonly onMppChange: (text: string) => void;
  readonly onPowerChange: (text: string) => void;
}

/**
 * Fields in which an administrator enters a scale (micrometres per pixel, objective power) that replaces the scale of the slide file.
 * Without an entered scale, the fields are empty and show the scale of the file, if it has one, as placeholders.
 */
export function ScaleFields(props: ScaleFieldsProps) {
  const { slide, mpp, power, isInvalid, onMppChange, onPowerChange } = props;
  // When an administrator has entered a scale, `slide` contains that scale, and the scale of the file is not known here.
  const placeholderOf = (value: number | null) =>
    value === null || slide.scale_entered === true
      ? texts.unknown
      : formatMeasuredValue(Number(value.toPrecision(placeholderDigits)), 'tr'); // 'tr' until the user chooses a language
  return (
    <Input.Wrapper
      labelElement="div"
      label={texts.scale}
      description={texts.calibrationHint}
      error={isInvalid && texts.calibrationInvalid}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    >
      <Group grow align="start" my="xs">
        <TextInput
          label={texts.pixelSize}
          inputMode="decimal"
          placeholder={placeholderOf(slide.mpp_x)}
          value={mpp}
          error={isInvalid}
          onChange={(event) => onMppChange(event.currentTarget.value)}
        />
        <TextInput
          label={texts.objectivePower}
          inputMode="decimal"
          placeholder={placeholderOf(slide.objective_power)}
          value={power}
          error={isInvalid}
          onChange={(event) => onPowerChange(event.currentTarget.value)}
        />
      </Group>
    </Input.Wrapper>
  );
}
