import { useState } from 'react';
import { ChangeForm } from './ChangeForm.tsx';
import { DatasetField } from './DatasetField.tsx';
import type { SlideFormProps } from './dialog-request.ts';
import { texts } from './texts.ts';

/** Form that moves one or more slides to a dataset. With an empty field, the slides belong to no dataset afterwards. */
export function MoveForm(props: SlideFormProps) {
  const [dataset, setDataset] = useState('');
  return (
    <ChangeForm
      {...props}
      hint={texts.moveHint(props.slides.length)}
      submitLabel={texts.move}
      change={{ dataset_name: dataset.trim() }}
    >
      <DatasetField
        value={dataset}
        description={texts.moveNew}
        placeholder={texts.noDataset}
        onChange={setDataset}
      />
    </ChangeForm>
  );
}
