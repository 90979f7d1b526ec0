import { nameKey } from '@lamina/contract';
import { Autocomplete, type AutocompleteProps, type OptionsFilter } from '@mantine/core';
import { useDatasets } from '../../api/datasets.ts';
import { texts } from './texts.ts';

type DatasetFieldProps = Pick<
  AutocompleteProps,
  'value' | 'onChange' | 'description' | 'error' | 'placeholder' | 'inputWrapperOrder' | 'className' | 'ref'
>;

/** Maximum number of suggested datasets. */
const maxSuggestions = 50;

/**
 * Returns the datasets whose names contain the typed text, without regard to case; none when the text is the name of a dataset.
 * The list would otherwise cover the button below the field after a person has typed a complete name.
 */
const filterDatasets: OptionsFilter = ({ options, search }) => {
  const searchKey = nameKey(search.trim());
  const datasets = options.filter((option) => 'value' in option); // for the type: Mantine's options may be groups
  if (datasets.some(({ value }) => nameKey(value) === searchKey)) return [];
  return datasets.filter(({ value }) => nameKey(value).includes(searchKey)).slice(0, maxSuggestions);
};

/** Text field for the name of a dataset, which suggests the existing datasets and accepts a new name. */
export function DatasetField({ inputWrapperOrder, ...props }: DatasetFieldProps) {
  const datasets = useDatasets().data ?? [];
  return (
    <Autocomplete
      label={texts.dataset}
      inputWrapperOrder={inputWrapperOrder ?? ['label', 'input', 'description']}
      data={datasets.map(({ name }) => name)}
      filter={filterDatasets}
      openOnFocus={false} // choosing files focuses the field; the open list would cover the buttons below it
      maxLength={200}
      comboboxProps={{ withinPortal: false }}
      {...props}
    />
  );
}
