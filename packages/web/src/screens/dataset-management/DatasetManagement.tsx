import { Text, Title } from '@mantine/core';
import { messageOf } from '../../api/client.ts';
import { useDatasets } from '../../api/datasets.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { AllShareLinks } from './AllShareLinks.tsx';
import { DatasetCard } from './DatasetCard.tsx';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

/** The screen "Administration › Datasets": the access to each dataset, access requests, and all share links. */
export function DatasetManagement() {
  return (
    <>
      <Title order={1} mb="xs">
        {texts.heading}
      </Title>
      <Text c="dimmed" mb="xl">
        {texts.hint}
      </Text>
      <Datasets />
      <AllShareLinks />
    </>
  );
}

function Datasets() {
  const datasets = useDatasets();
  if (datasets.isPending) return <Loading label={texts.loading} />;
  if (datasets.isLoadingError) {
    return (
      <LoadFailed
        message={messageOf(datasets.error, texts.loadFailed)}
        onRetry={() => void datasets.refetch()}
      />
    );
  }
  if (datasets.data.length === 0) return <Text c="dimmed">{texts.empty}</Text>;

  return (
    <ul className={classes.cards}>
      {datasets.data.map((dataset) => (
        <DatasetCard key={dataset.name} dataset={dataset} />
      ))}
    </ul>
  );
}
