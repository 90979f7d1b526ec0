import { Autocomplete } from '@mantine/core';
import { useDatasets } from '../../api/datasets.ts';
import { texts } from './texts.ts';

interface DatasetFieldProps {
  readonly value: string;
  readonly description?: string;
  readonly onChange: (value: string) => void;
}

/** Text field for the name of a dataset, which suggests the existing datasets and accepts a new name. */
export function DatasetField({ value, description, onChange }: DatasetFieldProps) {
  const datasets = useDatasets().data ?? [];
  return (
    <Autocomplete
      size="md"
      label={texts.dataset}
      placeholder={texts.noDataset}
      {...(description !== undefined && {
        description,
        inputWrapperOrder: ['label', 'input', 'description'],
      })}
      data={datasets.map(({ name }) => name)}
      limit={50}
      maxLength={200}
      value={value}
      onChange={onChange}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
