import type { ManagedImage } from '@lamina/contract';
import { Group, Input, TextInput } from '@mantine/core';
import { formatFigure } from '../../formatting/numbers.ts';
import { texts } from './texts.ts';

interface ScaleFieldsProps {
  readonly slide: ManagedImage;
  readonly mpp: string;
  readonly power: string;
  readonly isInvalid: boolean;
  readonly onMpp: (text: string) => void;
  readonly onPower: (text: string) => void;
}

/** A scale in place of that of the file; while it is used, empty fields show the file's. */
export function ScaleFields({ slide, mpp, power, isInvalid, onMpp, onPower }: ScaleFieldsProps) {
  const placeholderOf = (value: number | null) =>
    value === null || slide.scale_entered === true
      ? texts.unknown
      : formatFigure(Number(value.toPrecision(4)));
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
          onChange={(event) => onMpp(event.currentTarget.value)}
        />
        <TextInput
          label={texts.objectivePower}
          inputMode="decimal"
          placeholder={placeholderOf(slide.objective_power)}
          value={power}
          error={isInvalid}
          onChange={(event) => onPower(event.currentTarget.value)}
        />
      </Group>
    </Input.Wrapper>
  );
}
