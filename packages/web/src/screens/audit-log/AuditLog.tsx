import { Button, Group, Text, Title } from '@mantine/core';
import { IconDownload, IconRefresh } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { toast } from 'react-toastify';
import { downloadAudit, useAudit } from '../../api/audit.ts';
import { messageOf } from '../../api/client.ts';
import { saveFile } from '../../browser/save-file.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { AuditFilterForm } from './AuditFilterForm.tsx';
import classes from './AuditLog.module.css';
import { AuditTable } from './AuditTable.tsx';
import { ChainState } from './ChainState.tsx';
import { auditLogPath, readFilter, toApiFilter } from './filter.ts';
import { texts } from './texts.ts';

/**
 * The screen "Administration › Audit log". It lists the audit entries (who did what and when) with a filter and a CSV download, and shows
 * whether the chain of hashes over all entries is intact. The URL holds the filter.
 */
export function AuditLog() {
  const [query] = useSearchParams();
  const navigate = useNavigate();
  const filter = readFilter(query);
  const audit = useAudit(toApiFilter(filter));
  const download = useMutation({
    // Unlike the list, the file always contains the entries about image sessions (`sessions: '1'`).
    mutationFn: () => downloadAudit(toApiFilter({ ...filter, sessions: '1' })),
    onSuccess: (blob) => {
      saveFile(blob, texts.fileName(new Date().toISOString().slice(0, 10))); // the date in UTC
      toast.success(texts.downloaded);
    },
    onError: (error) => toast.error(messageOf(error, texts.downloadFailed)),
  });

  async function refresh() {
    const { isRefetchError, error } = await audit.refetch();
    if (isRefetchError) toast.error(messageOf(error, texts.loadFailed)); // the entries stay as they were
  }

  return (
    <>
      <Title order={1} mb="xs">
        {texts.heading}
      </Title>
      <Text c="dimmed" mb="lg">
        {texts.hint}
      </Text>
      <div className={classes.sections}>
        <ChainState />
        <Panel title={texts.filters}>
          <AuditFilterForm
            filter={filter}
            entries={audit.data ?? []}
            onApply={(next) => void navigate(auditLogPath(next))}
          />
        </Panel>
        <Panel
          title={texts.entries}
          action={
            <Group gap="xs">
              <Button
                size="sm"
                variant="default"
                leftSection={<IconRefresh size={18} aria-hidden />}
                loading={audit.isRefetching}
                onClick={() => void refresh()}
              >
                {texts.refresh}
              </Button>
              <Button
                size="sm"
                variant="default"
                leftSection={<IconDownload size={18} aria-hidden />}
                loading={download.isPending}
                onClick={() => download.mutate()}
              >
                {texts.download}
              </Button>
            </Group>
          }
        >
          <Entries audit={audit} />
        </Panel>
      </div>
    </>
  );
}

function Entries({ audit }: { readonly audit: ReturnType<typeof useAudit> }) {
  if (audit.isPending) return <Loading label={texts.loading} />;
  // Not `isError`: when loading the next page of older entries fails, the loaded entries stay visible.
  if (audit.isLoadingError) {
    return (
      <LoadFailed message={messageOf(audit.error, texts.loadFailed)} onRetry={() => void audit.refetch()} />
    );
  }
  const { data } = audit;
  if (data.length === 0) {
    return (
      <EmptyState
        title={texts.empty}
        action={
          <Button component={Link} to="/admin/audit" size="sm" variant="default">
            {texts.clear}
          </Button>
        }
      />
    );
  }

  return (
    <>
      <AuditTable entries={data} />
      <div className={classes.end}>
        {audit.isFetchNextPageError && (
          <LoadFailed message={texts.moreFailed} onRetry={() => void audit.fetchNextPage()} />
        )}
        {!audit.isFetchNextPageError && audit.hasNextPage && (
          <Button
            variant="default"
            loading={audit.isFetchingNextPage}
            onClick={() => void audit.fetchNextPage()}
          >
            {texts.more}
          </Button>
        )}
        {!audit.hasNextPage && (
          <Text c="dimmed" size="sm">
            {texts.end}
          </Text>
        )}
      </div>
    </>
  );
}
