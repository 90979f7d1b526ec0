import type { ResultKind } from '@lamina/contract';
import { NativeSelect, NumberInput, TextInput } from '@mantine/core';
import { type RegistrationInput, registrationMethods } from './registration-input.ts';
import { texts } from './texts.ts';

interface RegistrationFieldsProps {
  readonly kind: ResultKind;
  readonly value: RegistrationInput;
  readonly onChange: (value: RegistrationInput) => void;
  readonly isDisabled: boolean;
}

/**
 * Fields for the registration of a result: how coordinates of the result file become pixels of the slide. The file covers the whole slide,
 * or has a pixel size, or the user enters an affine transformation.
 */
export function RegistrationFields({ kind, value, onChange, isDisabled }: RegistrationFieldsProps) {
  const { method, mpp, matrix } = value;
  return (
    <>
      <NativeSelect
        label={texts.registration}
        value={method}
        data={registrationMethods.map((name) => ({ value: name, label: texts.registrations[kind][name] }))}
        onChange={({ currentTarget }) => {
          const chosen = registrationMethods.find((name) => name === currentTarget.value);
          if (chosen !== undefined) onChange({ ...value, method: chosen });
        }}
        disabled={isDisabled}
      />
      {method === 'pixel-size' && (
        <NumberInput
          label={texts.pixelSize}
          value={mpp}
          onChange={(typed) => onChange({ ...value, mpp: typed })}
          min={0}
          step={0.05} // µm per pixel
          decimalScale={6}
          allowedDecimalSeparators={['.', ',']}
          disabled={isDisabled}
        />
      )}
      {method === 'affine' && (
        <TextInput
          label={texts.matrix}
          description={texts.matrixHint}
          placeholder="1 0 0 1 0 0"
          maxLength={200}
          value={matrix}
          onChange={({ currentTarget }) => onChange({ ...value, matrix: currentTarget.value })}
          disabled={isDisabled}
        />
      )}
    </>
  );
}
