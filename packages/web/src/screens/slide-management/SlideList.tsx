import { type ManagedImage, type ManagedStatus, maxImagesAtOnce } from '@lamina/contract';
import { Button, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { messageOf } from '../../api/client.ts';
import { renewSlides, type SlideFilter, useSlideCounts, useSlides } from '../../api/slides.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import type { DialogRequest } from './dialog-request.ts';
import { SelectionBar } from './SelectionBar.tsx';
import { SlideDialog } from './SlideDialog.tsx';
import { SlideFilters } from './SlideFilters.tsx';
import classes from './SlideManagement.module.css';
import { SlideTable } from './SlideTable.tsx';
import { texts } from './texts.ts';

const everything: SlideFilter = { search: '', dataset: null };
const nobody: ReadonlySet<string> = new Set();

/** The list, what it is narrowed by, and what is selected in it. */
export function SlideList() {
  const [status, setStatus] = useState<ManagedStatus>('listed');
  const [filter, setFilter] = useState(everything);
  const [selected, setSelected] = useState(nobody);
  const [dialog, setDialog] = useState<DialogRequest | null>(null);
  const counts = useSlideCounts(filter);
  const slides = useSlides(status, filter);
  const shown = slides.data ?? [];
  const all = counts.data?.[status] ?? shown.length;
  // What has left the list, whoever changed it, is not selected any more.
  const chosen = shown.filter(({ id }) => selected.has(id));

  const select = (some: readonly ManagedImage[], isSelected: boolean) => {
    const next = new Set(chosen.map(({ id }) => id));
    for (const { id } of some) {
      if (!isSelected) next.delete(id);
      else if (next.size < maxImagesAtOnce) next.add(id);
    }
    setSelected(next);
  };

  /** As many as can be changed at once, loaded where they are not. */
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
          onClick={() => void renewSlides()}
        >
          {texts.refresh}
        </Button>
      }
    >
      <SlideFilters
        status={status}
        filter={filter}
        counts={counts.data}
        onStatus={(next) => {
          setStatus(next);
          setSelected(nobody);
        }}
        onFilter={(next) => {
          setFilter(next);
          setSelected(nobody);
        }}
      />
      <List slides={slides} all={all}>
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
          onClear={() => setSelected(nobody)}
          onAsk={setDialog}
        />
      )}
      {dialog !== null && (
        <SlideDialog
          request={dialog}
          onClose={() => setDialog(null)}
          onDone={() => {
            setDialog(null);
            setSelected(nobody);
          }}
        />
      )}
    </Panel>
  );
}

interface ListProps {
  readonly slides: ReturnType<typeof useSlides>;
  /** How many there are, loaded or not. */
  readonly all: number;
  /** The good case. */
  readonly children: React.ReactNode;
}

function List({ slides, all, children }: ListProps) {
  if (slides.isPending) return <Loading label={texts.loading} />;
  if (slides.isLoadingError) {
    return (
      <LoadFailed message={messageOf(slides.error, texts.loadFailed)} onRetry={() => void slides.refetch()} />
    );
  }
  if (slides.data.length === 0) return <Text c="dimmed">{texts.empty}</Text>;

  return (
    <>
      <Text size="sm" c="dimmed" mb="xs" aria-live="polite">
        {texts.shown(slides.data.length, Math.max(all, slides.data.length))}
      </Text>
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
