import { type ManagedCounts, ManagedStatus } from '@lamina/contract';
import { NativeSelect } from '@mantine/core';
import { useDatasets } from '../../api/datasets.ts';
import type { SlideFilter } from '../../api/slides.ts';
import { ListToolbar } from '../../components/ListToolbar.tsx';
import { statusLabels, texts } from './texts.ts';

interface SlideFiltersProps {
  readonly status: ManagedStatus;
  readonly filter: SlideFilter;
  /** Undefined until they are known. */
  readonly counts: ManagedCounts | undefined;
  /** Number of loaded and of matching slides in words; null while it is not known. */
  readonly count: string | null;
  readonly onChange: (status: ManagedStatus, filter: SlideFilter) => void;
}

/** Values of the choice of a dataset: a name may be any text, so a prefix tells names from the other two. */
const [anyDataset, noDataset, named] = ['any', 'none', 'named:'];

/** Search and filters above the list of slides. */
export function SlideFilters({ status, filter, counts, count, onChange }: SlideFiltersProps) {
  const datasets = useDatasets().data ?? [];
  const { search, dataset } = filter;
  const isNarrowed = search !== '' || dataset !== null || status !== 'listed';

  return (
    <ListToolbar
      searchLabel={texts.search}
      searchHint={texts.searchHint}
      search={search}
      onSearch={(text) => onChange(status, { ...filter, search: text })}
      count={count}
      onClear={isNarrowed ? () => onChange('listed', { search: '', dataset: null }) : null}
    >
      <NativeSelect
        size="md"
        label={texts.dataset}
        data={[
          { value: anyDataset, label: texts.anyDataset },
          ...datasets.map(({ name }) => ({ value: named + name, label: name })),
          { value: noDataset, label: texts.noDataset },
        ]}
        value={dataset === null ? anyDataset : dataset === '' ? noDataset : named + dataset}
        onChange={({ currentTarget: { value } }) => {
          const chosen = value === anyDataset ? null : value === noDataset ? '' : value.slice(named.length);
          onChange(status, { ...filter, dataset: chosen });
        }}
      />
      <NativeSelect
        size="md"
        label={texts.status}
        data={ManagedStatus.options.map((value) => ({
          value,
          label:
            counts === undefined ? statusLabels[value] : texts.ofMany(statusLabels[value], counts[value]),
        }))}
        value={status}
        onChange={({ currentTarget: { value } }) => onChange(ManagedStatus.parse(value), filter)}
      />
    </ListToolbar>
  );
}
