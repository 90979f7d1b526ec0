import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { ChangeForm } from './ChangeForm.tsx';
import type { SlideFormProps } from './dialog-request.ts';
import { texts } from './texts.ts';

/** Form that sets the organ of one or more slides. An empty field removes their organ. */
export function OrganForm(props: SlideFormProps) {
  const { slides } = props;
  const [organ, setOrgan] = useState(() => commonOrgan(slides));
  return (
    <ChangeForm
      {...props}
      hint={texts.organHint(slides.length)}
      submitLabel={texts.save}
      change={{ organ_type: organ.trim() }}
    >
      <TextInput
        label={texts.organ}
        placeholder={texts.optional}
        maxLength={200} // the limit of the API
        value={organ}
        onChange={(event) => setOrgan(event.currentTarget.value)}
        data-autofocus
      />
    </ChangeForm>
  );
}

/** Returns the organ that all slides have in common; an empty text when they differ or have none. */
function commonOrgan([firstSlide, ...otherSlides]: SlideFormProps['slides']): string {
  const organ = firstSlide?.organ_type ?? '';
  return otherSlides.every(({ organ_type }) => (organ_type ?? '') === organ) ? organ : '';
}
