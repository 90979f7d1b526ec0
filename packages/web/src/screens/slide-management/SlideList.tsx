import { type ManagedImage, type ManagedStatus, maxImagesAtOnce } from '@lamina/contract';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { messageOf } from '../../api/client.ts';
import { invalidateSlides, type SlideFilter, useSlideCounts, useSlides } from '../../api/slides.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import type { DialogRequest } from './dialog-request.ts';
import { SelectionBar } from './SelectionBar.tsx';
import { SlideDialog } from './SlideDialog.tsx';
import { SlideFilters } from './SlideFilters.tsx';
import classes from './SlideManagement.module.css';
import { SlideTable } from './SlideTable.tsx';
import { addressOfSlides, shownSlidesOf } from './slide-address.ts';
import { texts } from './texts.ts';

const noFilter: SlideFilter = { search: '', dataset: null };
const noSlides: ReadonlySet<string> = new Set();

/** The list of slides with search and filters, which are kept in the address, and the selection. */
export function SlideList() {
  const [address, setAddress] = useSearchParams();
  const { status, filter } = shownSlidesOf(address);
  const [selected, setSelected] = useState(noSlides);
  const [dialog, setDialog] = useState<DialogRequest | null>(null);
  const counts = useSlideCounts(filter);
  const slides = useSlides(status, filter);
  const shown = slides.data ?? [];
  const all = counts.data?.[status] ?? shown.length;
  // A slide that has left the list, changed here or elsewhere, is not selected any more.
  const chosen = shown.filter(({ id }) => selected.has(id));

  const isNarrowed = status !== 'listed' || filter.search !== '' || filter.dataset !== null;

  function narrow(nextStatus: ManagedStatus, nextFilter: SlideFilter) {
    setAddress(addressOfSlides({ status: nextStatus, filter: nextFilter }), { replace: true });
    setSelected(noSlides);
  }

  const select = (some: readonly ManagedImage[], isSelected: boolean) => {
    const next = new Set(chosen.map(({ id }) => id));
    for (const { id } of some) {
      if (!isSelected) next.delete(id);
      else if (next.size < maxImagesAtOnce) next.add(id);
    }
    setSelected(next);
  };

  /** Selects as many slides as can be changed at once, and loads those that are not loaded yet. */
  async function selectMore() {
    let loaded = slides;
    while (loaded.hasNextPage && (loaded.data?.length ?? 0) < maxImagesAtOnce) {
      loaded = (await loaded.fetchNextPage()) as typeof slides;
      if (loaded.isFetchNextPageError) break;
    }
    setSelected(new Set((loaded.data ?? []).slice(0, maxImagesAtOnce).map(({ id }) => id)));
  }

  return (
    <Panel
      title={texts.list}
      action={
        <Button
          size="sm"
          variant="default"
          leftSection={<IconRefresh size={18} aria-hidden />}
          loading={slides.isRefetching}
          onClick={() => void invalidateSlides()}
        >
          {texts.refresh}
        </Button>
      }
    >
      <SlideFilters
        status={status}
        filter={filter}
        counts={counts.data}
        count={slides.data === undefined ? null : texts.shown(shown.length, Math.max(all, shown.length))}
        onChange={narrow}
      />
      <List slides={slides} isNarrowed={isNarrowed} onClear={() => narrow('listed', noFilter)}>
        <SlideTable
          slides={shown}
          selected={selected}
          onSelect={select}
          onAsk={setDialog}
          onEndNear={() => {
            const { hasNextPage, isFetchingNextPage, isFetchNextPageError } = slides;
            if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void slides.fetchNextPage();
          }}
        />
      </List>
      {chosen.length > 0 && (
        <SelectionBar
          slides={chosen}
          shown={shown.length}
          all={all}
          onSelectMore={() => void selectMore()}
          onClear={() => setSelected(noSlides)}
          onAsk={setDialog}
        />
      )}
      {dialog !== null && (
        <SlideDialog
          request={dialog}
          onClose={() => setDialog(null)}
          onDone={() => {
            setDialog(null);
            setSelected(noSlides);
          }}
        />
      )}
    </Panel>
  );
}

interface ListProps {
  readonly slides: ReturnType<typeof useSlides>;
  readonly isNarrowed: boolean;
  readonly onClear: () => void;
  /** The table, shown when there are slides. */
  readonly children: React.ReactNode;
}

function List({ slides, isNarrowed, onClear, children }: ListProps) {
  if (slides.isPending) return <Loading label={texts.loading} />;
  if (slides.isLoadingError) {
    return (
      <LoadFailed message={messageOf(slides.error, texts.loadFailed)} onRetry={() => void slides.refetch()} />
    );
  }
  if (slides.data.length === 0) return <NoSlides isNarrowed={isNarrowed} onClear={onClear} />;

  return (
    <>
      {children}
      <div className={classes.end}>
        {slides.isFetchNextPageError && (
          <LoadFailed message={texts.moreFailed} onRetry={() => void slides.fetchNextPage()} />
        )}
        {!slides.isFetchNextPageError && slides.hasNextPage && (
          <Button
            variant="default"
            loading={slides.isFetchingNextPage}
            onClick={() => void slides.fetchNextPage()}
          >
            {texts.more}
          </Button>
        )}
      </div>
    </>
  );
}

function NoSlides({ isNarrowed, onClear }: Pick<ListProps, 'isNarrowed' | 'onClear'>) {
  if (!isNarrowed) return <EmptyState title={texts.none} hint={texts.noneHint} />;
  return (
    <EmptyState
      title={texts.empty}
      action={
        <Button size="sm" variant="default" onClick={onClear}>
          {texts.clearFilters}
        </Button>
      }
    />
  );
}
